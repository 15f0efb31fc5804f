// Plays the agent as a program. It must exit by itself: ctxfold keeps no process alive.

import { playAgent } from './agent.mjs';

playAgent().then((played) => console.log(`played ${JSON.stringify(played)}`));
