/// JSON in HTTP requests and responses by Jackson. See [dev.gyre.jackson.JacksonMapper].
@org.jspecify.annotations.NullMarked
package dev.gyre.jackson;
