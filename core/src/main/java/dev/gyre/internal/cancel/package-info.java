/// Cancellations: what they come from, how they are linked, and who hears of them.
@NullMarked
package dev.gyre.internal.cancel;

import org.jspecify.annotations.NullMarked;
