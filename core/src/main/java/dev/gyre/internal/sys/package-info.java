/// Every native call and constant. The only package that knows the linker and errno.
@NullMarked
package dev.gyre.internal.sys;

import org.jspecify.annotations.NullMarked;
