// A worker that fails to load.

throw new Error('this worker does not load');
