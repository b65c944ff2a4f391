package dev.gyre.conformance;

import java.lang.annotation.ElementType;
import java.lang.annotation.Inherited;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/// Says which backend the tests of a class are about, for `docs/MATRIX.md`. Tests without it are about the
/// one that a loop gets here by default.
@Retention(RetentionPolicy.RUNTIME)
@Target(ElementType.TYPE)
@Inherited
public @interface On {
    /// The backend's name, as in `EventLoop.metrics().backend()`.
    String value();
}
