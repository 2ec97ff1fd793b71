package peer;

import java.io.IOException;
import org.apache.flink.api.common.typeutils.SimpleTypeSerializerSnapshot;
import org.apache.flink.api.common.typeutils.TypeSerializerSnapshot;
import org.apache.flink.api.common.typeutils.base.TypeSerializerSingleton;
import org.apache.flink.core.memory.DataInputView;
import org.apache.flink.core.memory.DataOutputView;

/** Writes payloads as they are, and reads them into the same object again. */
final class PayloadSerializer extends TypeSerializerSingleton<Payload> {
    private final int size;

    PayloadSerializer(int size) {
        this.size = size;
    }

    @Override
    public boolean isImmutableType() {
        return false;
    }

    @Override
    public Payload createInstance() {
        return new Payload(size);
    }

    @Override
    public Payload copy(Payload from) {
        return copy(from, new Payload(size));
    }

    @Override
    public Payload copy(Payload from, Payload reuse) {
        reuse.number = from.number;
        System.arraycopy(from.rest, 0, reuse.rest, 0, from.rest.length);
        return reuse;
    }

    @Override
    public int getLength() {
        return size;
    }

    @Override
    public void serialize(Payload p, DataOutputView target) throws IOException {
        target.writeLong(p.number);
        target.write(p.rest, 0, p.rest.length);
    }

    @Override
    public Payload deserialize(DataInputView source) throws IOException {
        return deserialize(new Payload(size), source);
    }

    @Override
    public Payload deserialize(Payload reuse, DataInputView source) throws IOException {
        reuse.number = source.readLong();
        source.readFully(reuse.rest, 0, reuse.rest.length);
        return reuse;
    }

    @Override
    public void copy(DataInputView source, DataOutputView target) throws IOException {
        target.write(source, size);
    }

    @Override
    public TypeSerializerSnapshot<Payload> snapshotConfiguration() {
        return new Snapshot();
    }

    /** Payloads are in no state: it is never read back. */
    public static final class Snapshot extends SimpleTypeSerializerSnapshot<Payload> {
        public Snapshot() {
            super(() -> new PayloadSerializer(8));
        }
    }
}
