/// What the other rooms stand on: counts, a queue for one thread, and whose thread it is.
@NullMarked
package dev.gyre.internal.base;

import org.jspecify.annotations.NullMarked;
