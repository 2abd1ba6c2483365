import static java.nio.charset.StandardCharsets.UTF_8;

import com.google.common.hash.BloomFilter;
import com.google.common.hash.Funnel;
import com.google.common.hash.Funnels;
import java.io.BufferedInputStream;
import java.io.BufferedOutputStream;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/* * The other side: Guava itself makes filters, adds to them and queries them. Standard input has
 * one thing to do per line, so that one start of Java does for many:
 *
 *     make FILTER FUNNEL N P KEYS      a new filter with the lines of the file KEYS
 *     add FILTER FUNNEL KEYS           more of them, into a filter that is there
 *     query FILTER FUNNEL KEYS ANSWERS   writes those that it might contain
 */
public class Guava {
    private static final Map<String, Funnel<String>> FUNNELS = Map.of(
        "int32", (key, sink) -> Funnels.integerFunnel().funnel(Integer.valueOf(key), sink),
        "int64", (key, sink) -> Funnels.longFunnel().funnel(Long.valueOf(key), sink),
        "bytes", (key, sink) -> Funnels.stringFunnel(UTF_8).funnel(key, sink),
        "utf16", (key, sink) -> Funnels.unencodedCharsFunnel().funnel(key, sink));

    private static BloomFilter<String> read(String path, String funnel) throws IOException {
        try (InputStream in = new BufferedInputStream(Files.newInputStream(Path.of(path)))) {
            return BloomFilter.readFrom(in, FUNNELS.get(funnel));
        }
    }

    private static void fill(BloomFilter<String> filter, String keys, String path) throws IOException {
        Files.readAllLines(Path.of(keys)).forEach(filter::put);
        try (OutputStream out = new BufferedOutputStream(Files.newOutputStream(Path.of(path)))) {
            filter.writeTo(out);
        }
    }

    private static void query(BloomFilter<String> filter, String keys, String answers) throws IOException {
        List<String> lines = Files.readAllLines(Path.of(keys));
        Files.write(Path.of(answers), lines.stream().filter(filter::mightContain).collect(Collectors.toList()));
    }

    public static void main(String[] arguments) throws IOException {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, UTF_8));
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            String[] word = line.split(" ");
            switch (word[0]) {
                case "make":
                    fill(BloomFilter.create(FUNNELS.get(word[2]), Long.parseLong(word[3]), Double.parseDouble(word[4])),
                         word[5], word[1]);
                    break;
                case "add":
                    fill(read(word[1], word[2]), word[3], word[1]);
                    break;
                case "query":
                    query(read(word[1], word[2]), word[3], word[4]);
                    break;
                default:
                    throw new IllegalArgumentException(line);
            }
        }
    }
}
