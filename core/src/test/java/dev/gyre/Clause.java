package dev.gyre;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/// Marks a test as evidence for clauses of `docs/SEMANTICS.md`.
@Retention(RetentionPolicy.RUNTIME)
@Target(ElementType.METHOD)
public @interface Clause {
    /// The clauses' ids, such as `Q-5`.
    String[] value();
}
