/// TLS on the JDK's engine: keys and certificates from files, and the engine as a transformation of
/// bytes. Independent of loops and descriptors.
@NullMarked
package dev.gyre.internal.tls;

import org.jspecify.annotations.NullMarked;
