import dev.gyre.http.testkit.TestClient;
import dev.gyre.testkit.SimulatedWorld;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.nio.file.Path;

class TodoServiceTest {
    @TempDir Path uploads;

    @Test
    void todo_created_isListed() throws Exception {
        var service = new TodoService("jdbc:h2:mem:test", uploads);
        try (var world = SimulatedWorld.seed(42)) {
            var server = service.on(world.group(2));
            var client = TestClient.of(world, server.listen(80));
            client.get("/api/todos").expectStatus(401);
            client.post("/login").form("name", "ada").expectStatus(204);
            client.post("/api/todos").json("{\"title\":\"buy milk\"}").expectStatus(201);
            String todo = "{\"id\":1,\"title\":\"buy milk\",\"done\":false,\"attachment\":null}";
            client.get("/api/todos").expectStatus(200).expectJson("[" + todo + "]");
        }
    }
}
