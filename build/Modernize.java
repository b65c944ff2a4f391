/// Converts old classes in jars to a newer class-file version: `java build/Modernize.java DIRECTORY`.
///
/// The JDK's start-up cache accepts no class from before Java 6. Such classes have no stack maps, and
/// verifying them loads every class they mention. `./gyre` runs this on its copy of the jars before it
/// creates the cache. A class gets stack maps and a version, and is otherwise unchanged, including
/// names, signatures and line numbers. Newer classes and other entries are copied. Jars without old
/// classes are not touched, so a second run does nothing.
void main(String[] args) throws IOException {
    Path directory = Path.of(args[0]);
    try (var jars = Files.newDirectoryStream(directory, "*.jar")) {
        for (Path jar : jars) {
            // Outside the directory, because two jars of one module there are an error.
            Path modernized = directory.resolveSibling(jar.getFileName() + ".new");
            if (modernize(jar, modernized)) {
                Files.move(modernized, jar, StandardCopyOption.REPLACE_EXISTING);
            }
        }
    }
}

/// Returns whether the jar has old classes, and writes the converted jar if so.
boolean modernize(Path from, Path to) throws IOException {
    try (JarFile jar = new JarFile(from.toFile())) {
        List<JarEntry> entries = Collections.list(jar.entries());
        Map<JarEntry, byte[]> contents = new LinkedHashMap<>();
        ClassFile classFile = classFile(jar);
        boolean changed = false;
        for (JarEntry entry : entries) {
            byte[] before = jar.getInputStream(entry).readAllBytes();
            byte[] after =
                    isOldClass(entry.getName(), before) ? modernize(classFile, before) : before;
            changed |= after != before;
            contents.put(entry, after);
        }
        if (changed) {
            write(contents, to);
        }
        return changed;
    }
}

/// Returns a class-file context that resolves classes of the jar: stack maps merge types at joins of
/// control flow, so the ancestors of a class must be known.
ClassFile classFile(JarFile jar) {
    ClassHierarchyResolver inJar =
            ClassHierarchyResolver.ofResourceParsing(
                    type -> {
                        String descriptor = type.descriptorString();
                        String name = descriptor.substring(1, descriptor.length() - 1) + ".class";
                        JarEntry entry = jar.getJarEntry(name);
                        try {
                            return entry == null ? null : jar.getInputStream(entry);
                        } catch (IOException e) {
                            throw new UncheckedIOException(e);
                        }
                    });
    return ClassFile.of(
            ClassFile.StackMapsOption.GENERATE_STACK_MAPS,
            ClassFile.ClassHierarchyResolverOption.of(
                    inJar.orElse(ClassHierarchyResolver.defaultResolver())));
}

/// Java 7, the first version that is verified only by stack maps.
static final int NEWER = ClassFile.JAVA_7_VERSION;

boolean isOldClass(String name, byte[] content) {
    return name.endsWith(".class")
            && ClassFile.of().parse(content).majorVersion() < ClassFile.JAVA_6_VERSION;
}

byte[] modernize(ClassFile classFile, byte[] content) {
    ClassTransform newer =
            (builder, element) -> {
                if (element instanceof ClassFileVersion) {
                    builder.withVersion(NEWER, 0);
                } else {
                    builder.with(element);
                }
            };
    // Rebuilding the method bodies generates the stack maps.
    ClassTransform bodies = ClassTransform.transformingMethodBodies(CodeTransform.ACCEPT_ALL);
    return classFile.transformClass(classFile.parse(content), bodies.andThen(newer));
}

void write(Map<JarEntry, byte[]> contents, Path to) throws IOException {
    try (var jar = new JarOutputStream(Files.newOutputStream(to))) {
        for (var each : contents.entrySet()) {
            JarEntry entry = new JarEntry(each.getKey().getName());
            entry.setTime(each.getKey().getTime());
            jar.putNextEntry(entry);
            jar.write(each.getValue());
            jar.closeEntry();
        }
    }
}
