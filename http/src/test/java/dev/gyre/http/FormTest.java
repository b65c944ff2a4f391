package dev.gyre.http;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.gyre.Clause;

import org.junit.jupiter.api.Test;

import java.util.List;
import java.util.Map;
import java.util.function.Function;

class FormTest extends SimulatedFixture {
    private static final String URL_ENCODED = "application/x-www-form-urlencoded";

    private void form(Function<FormData, String> use) {
        server.post(
                "/",
                (request, response) ->
                        request.body().form().then(form -> response.text(use.apply(form))));
    }

    @Test
    @Clause("H-7")
    void form_thatIsUrlEncoded_hasItsValues() {
        form(
                form ->
                        "%s %s %s %s %s"
                                .formatted(
                                        form.names(),
                                        form.get("a"),
                                        form.getAll("a"),
                                        form.get("none"),
                                        form.contains("b")));
        Map<String, String> expected =
                Map.of(
                        "a=1&b=2&a=3", "[a, b] 1 [1, 3] null true",
                        "a=x+y%26%C3%A4%2B", "[a] x y&\u00c3\u00a4+ [x y&\u00c3\u00a4+] null false",
                        "a=\u00c3\u00a4", "[a] \u00c3\u00a4 [\u00c3\u00a4] null false",
                        "&&b&a=&", "[b, a]  [] null true",
                        "", "[] null [] null false");
        expected.forEach(
                (body, values) ->
                        assertThat(contentOf(post("/", URL_ENCODED, body)))
                                .as(body)
                                .isEqualTo(values));
        assertThat(contentOf(post("/", URL_ENCODED + "; Charset=\"UTF-8\"", "a=1")))
                .startsWith("[a] 1");
        assertThat(ask("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 0", ""))
                .endsWith("[] null [] null false");
    }

    @Test
    @Clause("H-7")
    void form_thatIsMultipart_hasItsValues_andAcceptsNoFile() {
        form(form -> form.names() + " " + form.require("a"));
        String text = "--b\r\nContent-Disposition: form-data; name=a\r\n\r\n1 2\r\n";
        String file = "--b\r\nContent-Disposition: form-data; name=f; filename=x\r\n\r\n\r\n";
        String type = "multipart/form-data; boundary=b";
        assertThat(contentOf(post("/", type, text + "--b--"))).isEqualTo("[a] 1 2");
        String refused = post("/", type, text + file + "--b--");
        assertThat(refused).startsWith("HTTP/1.1 400 ");
        assertThat(contentOf(refused)).isEqualTo("field f: expected text, not a file\n");
    }

    private void requireFailure(String type, String body, int status, String message) {
        String response = post("/", type, body);
        assertThat(response).as(body).startsWith("HTTP/1.1 " + status + " ");
        assertThat(contentOf(response)).isEqualTo(message + "\n");
    }

    @Test
    @Clause("H-7")
    void form_thatIsBad_is4xx_andTheMessageNamesTheField() {
        form(
                form ->
                        form.require("name")
                                + form.getLong("age", 7, 0, 150)
                                + form.getLong("none", 9, 0, 1));
        assertThat(contentOf(post("/", URL_ENCODED, "name=x&age=150"))).isEqualTo("x1509");
        assertThat(contentOf(post("/", URL_ENCODED, "name=x&age="))).isEqualTo("x79");
        requireFailure(URL_ENCODED, "x=y", 400, "field name: a value is required");
        requireFailure(URL_ENCODED, "name=&name=x", 400, "field name: a value is required");
        for (String age : List.of("x", "-1", "151", "1.5", "9999999999999999999999")) {
            requireFailure(
                    URL_ENCODED,
                    "name=x&age=" + age,
                    400,
                    "field age: expected a number from 0 to 150");
        }
        for (String value : List.of("%", "%4", "%zz", "%ff", "\u00ff", "%C0%80")) {
            requireFailure(
                    URL_ENCODED,
                    "a=b&name=" + value,
                    400,
                    "field name: the value is not URL-encoded UTF-8");
            requireFailure(
                    URL_ENCODED,
                    "a=b&" + value + "=c",
                    400,
                    "form field 2: the name is not URL-encoded UTF-8");
        }
        requireFailure(
                URL_ENCODED, "a=b&".repeat(1_001), 413, "the form has more than 1000 fields");
        String expected =
                "header Content-Type: expected application/x-www-form-urlencoded in UTF-8, or"
                        + " multipart/form-data, not ";
        for (String type :
                List.of(
                        "application/json",
                        "x",
                        URL_ENCODED + "; charset=latin1",
                        URL_ENCODED + ";x")) {
            requireFailure(type, "a=b", 415, expected + type);
        }
        requireFailure(
                "multipart/form-data",
                "",
                400,
                "header Content-Type: expected a boundary of 1 to 70 characters");
    }

    @Test
    @Clause("H-7")
    void formData_cannotBeChanged() {
        form(
                form -> {
                    assertThatThrownBy(() -> form.getAll("a").add("x"))
                            .isInstanceOf(UnsupportedOperationException.class);
                    assertThatThrownBy(() -> form.names().clear())
                            .isInstanceOf(UnsupportedOperationException.class);
                    return form.toString();
                });
        assertThat(contentOf(post("/", URL_ENCODED, "a=secret"))).isEqualTo("FormData[a]");
    }
}
