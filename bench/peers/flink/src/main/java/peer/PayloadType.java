package peer;

import org.apache.flink.api.common.serialization.SerializerConfig;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.common.typeutils.TypeSerializer;

/** Names the serializer of payloads of one size. */
final class PayloadType extends TypeInformation<Payload> {
    private final int size;

    PayloadType(int size) {
        this.size = size;
    }

    @Override
    public boolean isBasicType() {
        return false;
    }

    @Override
    public boolean isTupleType() {
        return false;
    }

    @Override
    public int getArity() {
        return 1;
    }

    @Override
    public int getTotalFields() {
        return 1;
    }

    @Override
    public Class<Payload> getTypeClass() {
        return Payload.class;
    }

    @Override
    public boolean isKeyType() {
        return false;
    }

    @Override
    public TypeSerializer<Payload> createSerializer(SerializerConfig config) {
        return new PayloadSerializer(size);
    }

    @Override
    public String toString() {
        return "payload of " + size + " bytes";
    }

    @Override
    public boolean equals(Object o) {
        return o instanceof PayloadType p && p.size == size;
    }

    @Override
    public int hashCode() {
        return size;
    }

    @Override
    public boolean canEqual(Object o) {
        return o instanceof PayloadType;
    }
}
