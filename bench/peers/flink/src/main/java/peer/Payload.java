package peer;

/** A record of a fixed number of bytes, of which the first 8 are its number. */
final class Payload {
    long number;
    final byte[] rest;

    Payload(int size) {
        rest = new byte[size - 8];
    }
}
