/// The metrics of Gyre for Micrometer.
@org.jspecify.annotations.NullMarked
package dev.gyre.micrometer;
