package dev.gyre.http.internal.files;

import static org.assertj.core.api.Assertions.assertThat;

import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Example;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;

import java.nio.file.Path;
import java.util.List;

class RequestedPathPropertyTest {
    @Provide
    Arbitrary<String> paths() {
        return Arbitraries.of(
                        "a", "b", ".", "..", "/", "%2e", "%2E", "%2f", "%5c", "\\", "%00", "%",
                        "%25", "%c0%af", "%c3%a9", "\u00e9", "%ff", "~", ";", "...")
                .list()
                .ofMaxSize(12)
                .map(parts -> String.join("", parts));
    }

    @Property(tries = 5_000)
    void of_anyPath_leadsDownOrNowhere(@ForAll("paths") String sent, @ForAll boolean hidden) {
        RequestedPath requested = RequestedPath.of(sent, hidden, false);
        if (requested == null) {
            return;
        }
        Path root = Path.of("/srv/site");
        Path path = root;
        for (String name : requested.names()) {
            path = path.resolve(name);
        }
        assertThat(path.normalize()).as("%s needs no tidying up", sent).isEqualTo(path);
        assertThat(path.startsWith(root)).as("%s stays inside", sent).isTrue();
        assertThat(path.getNameCount())
                .as("%s: a name is a name", sent)
                .isEqualTo(2 + requested.names().size());
        if (!hidden) {
            assertThat(requested.names()).noneMatch(name -> name.startsWith("."));
        }
    }

    @Example
    void of_ordinaryPaths_areTheirNames() {
        assertThat(RequestedPath.of("", false, false))
                .isEqualTo(new RequestedPath(List.of(), true));
        assertThat(RequestedPath.of("a", false, false))
                .isEqualTo(new RequestedPath(List.of("a"), false));
        assertThat(RequestedPath.of("a/b/", false, false))
                .isEqualTo(new RequestedPath(List.of("a", "b"), true));
        assertThat(RequestedPath.of("%c3%a9%20+", false, false))
                .isEqualTo(new RequestedPath(List.of("é +"), false));
        assertThat(RequestedPath.of(".a/..b", true, false))
                .isEqualTo(new RequestedPath(List.of(".a", "..b"), false));
        assertThat(RequestedPath.of(".a", false, false)).isNull();
    }

    @Example
    void of_wellKnownPlaces_areNotHiddenAtTheRoot_andWhatElseIsBelowThemIs() {
        assertThat(RequestedPath.of(".well-known/security.txt", false, true))
                .isEqualTo(new RequestedPath(List.of(".well-known", "security.txt"), false));
        assertThat(RequestedPath.of("%2ewell-known/", false, true))
                .isEqualTo(new RequestedPath(List.of(".well-known"), true));
        assertThat(RequestedPath.of(".well-known/.git", false, true)).isNull();
        assertThat(RequestedPath.of("a/.well-known", false, true)).isNull();
        assertThat(RequestedPath.of(".well-known", false, false)).isNull();
        assertThat(RequestedPath.of(".well-known2", false, true)).isNull();
        assertThat(RequestedPath.of(".WELL-KNOWN", false, true)).isNull();
    }
}
