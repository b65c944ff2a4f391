/// TLS by the JDK's engine: keys and certificates as they lie on disk, and the engine as something that turns bytes
/// into other bytes. Nothing here knows of loops or descriptors.
@NullMarked
package dev.gyre.internal.tls;

import org.jspecify.annotations.NullMarked;
