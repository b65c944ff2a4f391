/// Media types and gzip: what content is called, and how it is made smaller.
@org.jspecify.annotations.NullMarked
package dev.gyre.http.internal.coding;
