// Plays the agent, as a program. Ends by itself: nothing of ctxfold keeps a process alive.

import { playAgent } from './agent.mjs';

playAgent().then((played) => console.log(`played ${JSON.stringify(played)}`));
