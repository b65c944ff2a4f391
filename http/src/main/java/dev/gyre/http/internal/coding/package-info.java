/// Media types and gzip.
@org.jspecify.annotations.NullMarked
package dev.gyre.http.internal.coding;
