/// Promises of a loop: what they are made of, what keeps track of them, and work outside the loop that
/// settles them.
@NullMarked
package dev.gyre.internal.promise;

import org.jspecify.annotations.NullMarked;
