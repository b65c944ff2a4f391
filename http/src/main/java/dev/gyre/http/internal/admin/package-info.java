/// The endpoints of the admin address.
@org.jspecify.annotations.NullMarked
package dev.gyre.http.internal.admin;
