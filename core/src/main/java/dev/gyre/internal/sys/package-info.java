/// Every native call and constant. The only room that knows the linker and errno.
@NullMarked
package dev.gyre.internal.sys;

import org.jspecify.annotations.NullMarked;
