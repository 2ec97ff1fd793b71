package peer;

public final class Main {
    public static void main(String[] args) throws Exception {
    }
}
