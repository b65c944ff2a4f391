package dev.gyre.internal.promise;

/// A reaction without user code: it runs inside the call that settles, so that nobody outside the loop waits for
/// a barrier, which a loop that is being closed does not reach.
interface InternalReaction extends Reaction {}
