/// Cancellation tokens: sources, deadlines, links between them, and their listeners.
@NullMarked
package dev.gyre.internal.cancel;

import org.jspecify.annotations.NullMarked;
