/// Brings the old classes of jars to a newer class-file version: `java build/Modernize.java DIRECTORY`.
///
/// The JDK's start-up cache takes no class from before Java 6, since those are verified in another way: without
/// stack maps, by loading whatever they mention. Run by ./gyre on its copy of the jars, before it makes the cache. A
/// class gets stack maps and a version, and is otherwise what it was, names, signatures and line numbers
/// included. Newer classes, and all that is no class, are copied; jars without old classes are left alone, so
/// that a second run does nothing.
void main(String[] args) throws IOException {
    Path directory = Path.of(args[0]);
    try (var jars = Files.newDirectoryStream(directory, "*.jar")) {
        for (Path jar : jars) {
            // Not beside it, where it would be a module twice.
            Path mended = directory.resolveSibling(jar.getFileName() + ".new");
            if (modernize(jar, mended)) {
                Files.move(mended, jar, StandardCopyOption.REPLACE_EXISTING);
            }
        }
    }
}

/// Whether there was anything to do.
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

/// Stack maps say what two paths have in common, so a class's ancestors have to be known.
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

/// Java 7: the first that is verified by stack maps and in no other way.
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
    // Taking bodies apart and together again is what makes the stack maps.
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
