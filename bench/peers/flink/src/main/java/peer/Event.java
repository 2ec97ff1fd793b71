package peer;

import java.io.BufferedInputStream;
import java.io.DataInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** An event of Nexmark. Only bids have their fields: the queries here want no others. */
final class Event {
    private static final byte BID = 2;

    final boolean bid;
    long auction;
    long bidder;
    long price;
    long time;
    String channel;
    String url;
    String extra;

    private Event(boolean bid) {
        this.bid = bid;
    }

    /** Reads a file that the other side has written. */
    static Event[] read(String file) throws IOException {
        List<Event> list = new ArrayList<>();
        Map<String, String> same = new HashMap<>();
        try (DataInputStream in = new DataInputStream(new BufferedInputStream(Files.newInputStream(Path.of(file)), 1 << 20))) {
            while (true) {
                int length;
                try {
                    length = Integer.reverseBytes(in.readInt());
                } catch (EOFException end) {
                    return list.toArray(new Event[0]);
                }
                list.add(of(ByteBuffer.wrap(in.readNBytes(length)).order(ByteOrder.LITTLE_ENDIAN), same));
            }
        }
    }

    private static Event of(ByteBuffer b, Map<String, String> same) {
        Event e = new Event(b.get() == BID);
        if (!e.bid) {
            return e;
        }
        e.auction = b.getLong();
        e.bidder = b.getLong();
        e.price = b.getLong();
        e.time = b.getLong();
        int[] lengths = {b.getShort() & 0xFFFF, b.getShort() & 0xFFFF, b.getShort() & 0xFFFF};
        e.channel = same.computeIfAbsent(text(b, lengths[0]), s -> s);
        e.url = same.computeIfAbsent(text(b, lengths[1]), s -> s);
        e.extra = text(b, lengths[2]);
        return e;
    }

    private static String text(ByteBuffer b, int length) {
        byte[] bytes = new byte[length];
        b.get(bytes);
        return new String(bytes, StandardCharsets.ISO_8859_1);
    }
}
