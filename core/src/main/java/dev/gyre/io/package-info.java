/// Descriptors, and what moves bytes through them.
@NullMarked
package dev.gyre.io;

import org.jspecify.annotations.NullMarked;
