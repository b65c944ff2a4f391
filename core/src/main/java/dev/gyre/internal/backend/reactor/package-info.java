/// Operations for backends that tell of readiness, written once.
@NullMarked
package dev.gyre.internal.backend.reactor;

import org.jspecify.annotations.NullMarked;
