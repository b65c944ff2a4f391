// A to-do service: JSON by Jackson, JDBC on virtual threads, sessions by signed cookie, uploads.
// Needs gyre-jackson and H2: see docs/guide/first-service.md. Press Ctrl-C to stop.
import dev.gyre.*;
import dev.gyre.http.*;
import dev.gyre.jackson.JacksonMapper;

import org.h2.jdbcx.JdbcConnectionPool;

import tools.jackson.databind.ObjectMapper;

import java.io.IOException;
import java.net.*;
import java.nio.charset.StandardCharsets;
import java.nio.file.*;
import java.security.SecureRandom;
import java.sql.*;
import java.time.Duration;
import java.util.*;

import javax.sql.DataSource;

final class TodoService {
    record Todo(long id, String title, boolean done, String attachment) {}

    record NewTodo(String title, boolean done) {}

    private final DataSource database;
    private final Path uploads;
    private final CookieSigner signer = CookieSigner.of(secret());
    private final Attribute<String> user = Attribute.of("user");

    TodoService(String databaseUrl, Path uploads) throws SQLException {
        database = JdbcConnectionPool.create(databaseUrl, "sa", "");
        this.uploads = uploads;
        createTable();
    }

    static void main(String[] arguments) throws Exception {
        int port = arguments.length > 0 ? Integer.parseInt(arguments[0]) : 8080;
        var service = new TodoService("jdbc:h2:mem:todos;DB_CLOSE_DELAY=-1", Path.of("uploads"));
        try (var group = LoopGroup.ofCores()) {
            var server = service.on(group).listen("localhost", port);
            IO.println("listening on " + server.uri());
            group.run(); // Until Ctrl-C, which drains.
        }
    }

    HttpServerGroup on(LoopGroup group) {
        var server = HttpServer.on(group).jsonMapper(JacksonMapper.of(new ObjectMapper()));
        server.errorFormat(ErrorFormat.PROBLEM_JSON);
        server.health("/health", loop -> loop.promisify(_ -> isDatabaseUp()));
        server.post("/login", this::login).post("/logout", this::logout);
        return server.route("/api/todos", this::todos);
    }

    void todos(RouteGroup todos) {
        todos.use(this::requireUser).timeout(Duration.ofSeconds(10)).maxBody(64 << 10);
        todos.blockingGet("", this::list).blockingPost("", this::create);
        todos.blockingGet("/{id}", this::read)
                .blockingPut("/{id}", this::update)
                .blockingDelete("/{id}", this::delete);
        todos.route(
                "/{id}/attachment",
                attachment ->
                        attachment
                                .maxBody(20 << 20)
                                .timeout(Duration.ofMinutes(5))
                                .blockingPut("", this::attach)
                                .blockingGet("", this::download));
        todos.onError(SQLException.class, this::databaseFailed);
    }

    // ------------------------------------------------------------------ sessions

    Promise<?> login(Request request, Response response) {
        return request.body().form().then(form -> startSession(form.require("name"), response));
    }

    Promise<?> startSession(String name, Response response) {
        var value = URLEncoder.encode(name, StandardCharsets.UTF_8); // Cookies are ASCII.
        var session = Cookie.of("session", value).httpOnly().sameSite(Cookie.SameSite.LAX);
        var signed = signer.sign(session.maxAge(Duration.ofHours(8)));
        return response.cookie(signed).status(204).send();
    }

    Promise<?> logout(Request request, Response response) {
        return response.removeCookie("session").status(204).send();
    }

    Promise<?> requireUser(Request request, Response response, Handler next) throws Exception {
        String session = signer.verify(request, "session");
        if (session == null) throw new HttpException(401, "log in first: POST /login");
        request.set(user, URLDecoder.decode(session, StandardCharsets.UTF_8));
        return next.handle(request, response);
    }

    /// Returns the key from the environment. Without one, a restart ends all sessions.
    static byte[] secret() {
        String secret = System.getenv("TODO_SECRET"); // openssl rand -base64 32
        if (secret != null) return Base64.getDecoder().decode(secret);
        byte[] key = new byte[32];
        new SecureRandom().nextBytes(key);
        return key;
    }

    // ------------------------------------------------------------------ to-dos

    void list(Request request, Response response) throws SQLException {
        long max = request.queryLong("max", 100, 1, 1000);
        response.json(query("WHERE owner = ? ORDER BY id LIMIT ?", request.get(user), max));
    }

    void create(Request request, Response response) throws Exception {
        NewTodo todo = valid(request.body().json(NewTodo.class).await());
        String sql = "INSERT INTO todo (owner, title, done) VALUES (?, ?, ?)";
        long id = execute(sql, request.get(user), todo.title(), todo.done());
        response.status(201).header("Location", "/api/todos/" + id);
        response.json(find(request, id));
    }

    void read(Request request, Response response) throws SQLException {
        response.json(find(request));
    }

    void update(Request request, Response response) throws Exception {
        long id = find(request).id();
        NewTodo todo = valid(request.body().json(NewTodo.class).await());
        String sql = "UPDATE todo SET title = ?, done = ? WHERE id = ?";
        execute(sql, todo.title(), todo.done(), id);
        response.json(find(request));
    }

    void delete(Request request, Response response) throws Exception {
        Todo todo = find(request);
        execute("DELETE FROM todo WHERE id = ?", todo.id());
        deleteFile(todo.attachment());
        response.status(204).send();
    }

    Todo find(Request request) throws SQLException {
        return find(request, request.pathLong("id", 1, Long.MAX_VALUE));
    }

    Todo find(Request request, long id) throws SQLException {
        var found = query("WHERE owner = ? AND id = ?", request.get(user), id);
        if (found.isEmpty()) throw new HttpException(404, "no to-do " + id);
        return found.getFirst();
    }

    NewTodo valid(NewTodo todo) {
        var invalid = new HttpException(422, "invalid to-do");
        if (todo.title() == null || todo.title().isBlank())
            throw invalid.withError("title", "must not be empty");
        if (todo.title().length() > 100)
            throw invalid.withError("title", "must have at most 100 characters");
        return todo;
    }

    // ------------------------------------------------------------------ uploads

    void attach(Request request, Response response) throws Exception {
        Todo todo = find(request);
        var saved = new ArrayList<Path>();
        request.body().multipart(part -> save(part, saved)).await();
        if (saved.isEmpty()) throw new HttpException(400, "send one file");
        String path = uploads.relativize(saved.getFirst()).toString();
        execute("UPDATE todo SET attachment = ? WHERE id = ?", path, todo.id());
        deleteFile(todo.attachment());
        response.json(find(request));
    }

    /// Keeps the client's name of the file, in a new directory.
    Promise<?> save(Part part, List<Path> saved) {
        if (!saved.isEmpty()) throw new HttpException(400, "send one file only");
        Path directory = uploads.resolve(UUID.randomUUID().toString());
        return part.saveTo(directory, part.fileName()).thenAccept(saved::add);
    }

    void deleteFile(String attachment) throws IOException {
        if (attachment == null) return;
        Path file = uploads.resolve(attachment);
        Files.deleteIfExists(file);
        Files.deleteIfExists(file.getParent());
    }

    void download(Request request, Response response) throws SQLException {
        Todo todo = find(request);
        if (todo.attachment() == null) throw new HttpException(404, "no attachment");
        Path file = uploads.resolve(todo.attachment());
        response.sendFile(file, file.getFileName().toString());
    }

    // ------------------------------------------------------------------ database

    void createTable() throws SQLException {
        execute(
                """
                CREATE TABLE IF NOT EXISTS todo (id IDENTITY PRIMARY KEY, owner VARCHAR NOT NULL,
                    title VARCHAR(100) NOT NULL, done BOOLEAN NOT NULL, attachment VARCHAR)
                """);
    }

    List<Todo> query(String where, Object... values) throws SQLException {
        try (var connection = database.getConnection();
                var statement = prepare(connection, "SELECT * FROM todo " + where, values);
                var rows = statement.executeQuery()) {
            var found = new ArrayList<Todo>();
            while (rows.next()) {
                String attachment = rows.getString("attachment");
                boolean done = rows.getBoolean("done");
                found.add(new Todo(rows.getLong("id"), rows.getString("title"), done, attachment));
            }
            return found;
        }
    }

    /// Returns the id of an inserted row, or 0.
    long execute(String sql, Object... values) throws SQLException {
        try (var connection = database.getConnection();
                var statement = prepare(connection, sql, values)) {
            statement.executeUpdate();
            var keys = statement.getGeneratedKeys();
            return keys.next() ? keys.getLong("id") : 0;
        }
    }

    PreparedStatement prepare(Connection connection, String sql, Object... values)
            throws SQLException {
        var statement = connection.prepareStatement(sql, new String[] {"id"});
        for (int i = 0; i < values.length; i++) {
            statement.setObject(i + 1, values[i]);
        }
        return statement;
    }

    boolean isDatabaseUp() throws SQLException {
        try (var connection = database.getConnection()) {
            return connection.isValid(1);
        }
    }

    Promise<?> databaseFailed(SQLException failure, Request request, Response response) {
        if (failure instanceof SQLDataException) throw new HttpException(422, "invalid value");
        System.getLogger("todo").log(System.Logger.Level.ERROR, "the database failed", failure);
        throw new HttpException(503, "try again later");
    }
}
