/// Groups of loops: their threads, their values per loop, and their end.
@NullMarked
package dev.gyre.internal.group;

import org.jspecify.annotations.NullMarked;
