package dev.gyre.jackson;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.fasterxml.jackson.annotation.JsonProperty;

import dev.gyre.Clause;
import dev.gyre.http.HttpException;
import dev.gyre.http.HttpServer;
import dev.gyre.http.JsonException;
import dev.gyre.http.testkit.TestClient;
import dev.gyre.testkit.SimulatedWorld;

import org.junit.jupiter.api.Test;

import tools.jackson.core.StreamReadFeature;
import tools.jackson.core.type.TypeReference;
import tools.jackson.databind.DeserializationFeature;
import tools.jackson.databind.MapperFeature;
import tools.jackson.databind.ObjectMapper;

import java.time.DayOfWeek;
import java.time.Duration;
import java.time.LocalDate;
import java.util.List;
import java.util.Map;
import java.util.UUID;

class JacksonMapperTest {
    record Item(String name, double price, int count) {}

    record Order(
            @JsonProperty(required = true) long id,
            List<Item> items,
            boolean paid,
            DayOfWeek day,
            LocalDate due,
            Duration delay,
            UUID key,
            Map<String, Integer> stock) {
        Order {
            if (id < 0) {
                throw new IllegalArgumentException("secret");
            }
        }
    }

    static class Unreadable {
        Unreadable(Thread thread) {}
    }

    private final JacksonMapper mapper =
            JacksonMapper.of(
                    new ObjectMapper()
                            .rebuild()
                            .enable(DeserializationFeature.FAIL_ON_MISSING_CREATOR_PROPERTIES)
                            .build());

    private Order read(String json) {
        return mapper.read(json.getBytes(UTF_8), Order.class);
    }

    @Test
    @Clause("H-7")
    void value_thatIsWritten_isReadAgain() {
        Order order =
                new Order(
                        7,
                        List.of(new Item("ä\uD83D\uDE00", 1.5, 2)),
                        true,
                        DayOfWeek.MONDAY,
                        LocalDate.of(2026, 2, 3),
                        Duration.ofMinutes(1),
                        new UUID(1, 2),
                        Map.of("a", 1));
        byte[] json = mapper.write(order);
        assertThat(new String(json, UTF_8)).contains("\"due\":\"2026-02-03\"", "ä\uD83D\uDE00");
        Order again = mapper.read(json, Order.class);
        assertThat(again).isEqualTo(order);
        List<Item> items =
                mapper.read(
                        "[{\"name\":\"x\",\"price\":1,\"count\":2}]".getBytes(UTF_8),
                        new TypeReference<List<Item>>() {}.getType());
        assertThat(items).containsExactly(new Item("x", 1, 2));
        assertThat(mapper.write(null)).asString(UTF_8).isEqualTo("null");
    }

    @Test
    @Clause("H-7")
    void json_thatDoesNotFit_namesTheFieldAndTheExpectedKind() {
        requireProblem("{\"id\":\"x\"}", "id", "expected a whole number in range");
        requireProblem("{\"id\":99999999999999999999}", "id", "the number is out of range");
        String item = "{\"name\":\"x\",\"price\":1,\"count\":2}";
        requireProblem(
                "{\"items\":[" + item + ",{\"price\":\"x\"}]}",
                "items[1].price",
                "expected a number");
        requireProblem("{\"items\":[{}]}", "items[0].name", "a value is required");
        requireProblem("{\"items\":[]}", "id", "a value is required");
        requireProblem("{\"items\":7}", "items", "expected an array");
        requireProblem("{\"items\":[7]}", "items[0]", "expected an object");
        requireProblem("{\"items\":[{\"name\":[]}]}", "items[0].name", "expected a string");
        requireProblem("{\"paid\":\"x\"}", "paid", "expected true or false");
        requireProblem(
                "{\"day\":\"x\"}",
                "day",
                "expected one of MONDAY, TUESDAY, WEDNESDAY, THURSDAY, FRIDAY, SATURDAY, SUNDAY");
        requireProblem("{\"due\":\"x\"}", "due", "expected a date or time in ISO 8601");
        requireProblem("{\"delay\":\"x\"}", "delay", "expected a duration in ISO 8601");
        requireProblem("{\"key\":\"x\"}", "key", "expected a UUID");
        requireProblem("{\"stock\":{\"a\":\"x\"}}", "stock.a", "expected a whole number in range");
        requireProblem(
                "{\"id\":-1,\"items\":[],\"paid\":true,\"day\":null,\"due\":null,\"delay\":null,"
                        + "\"key\":null,\"stock\":null}",
                "",
                "invalid value");
        requireProblem("[]", "", "expected an object");
    }

    @Test
    @Clause("H-7")
    void json_thatIsMalformed_namesThePlace() {
        requireProblem("{\"id\":1,,}", "", "malformed JSON at line 1, column 9");
        requireProblem("{\"id\":", "", "the JSON ends too early");
        assertThatThrownBy(() -> mapper.read("7 x".getBytes(UTF_8), Integer.class))
                .isInstanceOf(JsonException.class)
                .hasMessage("malformed JSON at line 1, column 3");
        requireProblem(
                "{\"x\":" + "[".repeat(2_000),
                "",
                "the JSON is nested too deep, or a value too long");
    }

    private void requireProblem(String json, String path, String problem) {
        assertThatThrownBy(() -> read(json))
                .as(json)
                .isInstanceOfSatisfying(
                        JsonException.class,
                        e -> {
                            assertThat(e.problem()).isEqualTo(problem);
                            assertThat(e.path()).isEqualTo(path);
                            assertThat(e.getMessage())
                                    .doesNotContain("java", "dev.gyre", "jackson", "secret");
                        });
    }

    /// The mapper that the guide recommends to strict services.
    @Test
    @Clause("H-7")
    void strictMapper_rejectsUnknownFields_coercionAndDuplicates() {
        JacksonMapper strict =
                JacksonMapper.of(
                        tools.jackson.databind.json.JsonMapper.builder()
                                .enable(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES)
                                .enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION)
                                .disable(MapperFeature.ALLOW_COERCION_OF_SCALARS)
                                .build());
        JacksonMapper lenient = JacksonMapper.of(new ObjectMapper());
        String accepted = "{\"name\":\"x\",\"price\":1,\"count\":2";
        for (String[] each :
                new String[][] {
                    {accepted + ",\"x\":1}", "x: unknown field"},
                    {accepted + ",\"count\":3}", "malformed JSON at line 1, column 40"},
                    {
                        accepted.replace("2", "\"2\"") + "}",
                        "count: expected a whole number in range"
                    }
                }) {
            byte[] json = each[0].getBytes(UTF_8);
            assertThat(lenient.<Item>read(json, Item.class)).as("the default").isNotNull();
            assertThatThrownBy(() -> strict.read(json, Item.class))
                    .isInstanceOf(JsonException.class)
                    .hasMessage(each[1]);
        }
    }

    @Test
    @Clause("H-7")
    void type_thatCannotBeRead_isNoFaultOfTheJson() {
        assertThatThrownBy(() -> mapper.read("{}".getBytes(UTF_8), Unreadable.class))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("Jackson cannot read")
                .hasMessageContaining("Unreadable");
    }

    @Test
    @Clause("H-7")
    void server_readsAndWritesJson() {
        try (SimulatedWorld world = SimulatedWorld.seed(1)) {
            HttpServer server =
                    HttpServer.on(world.loop())
                            .jsonMapper(mapper)
                            .post(
                                    "/items",
                                    (request, response) ->
                                            request.body()
                                                    .json(Item.class)
                                                    .then(item -> response.status(201).json(item)))
                            .get(
                                    "/error",
                                    (_, _) -> {
                                        throw new HttpException(422, "invalid")
                                                .withBody(new Item("x", 1, 2));
                                    })
                            .listen(80);
            TestClient client = TestClient.of(world, server);
            client.post("/items")
                    .json("{\"name\":\"x\",\"price\":1.5,\"count\":2}")
                    .expectStatus(201)
                    .expectJson("{\"name\":\"x\",\"price\":1.5,\"count\":2}");
            client.post("/items")
                    .json("{\"name\":\"x\",\"price\":1.5,\"count\":\"y\"}")
                    .expectStatus(400)
                    .expectText("field count: expected a whole number in range\n");
            client.get("/error")
                    .expectStatus(422)
                    .expectJson("{\"name\":\"x\",\"price\":1.0,\"count\":2}");
        }
    }
}
