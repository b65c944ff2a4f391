/// Descriptors and who watches them.
@NullMarked
package dev.gyre.internal.io;

import org.jspecify.annotations.NullMarked;
