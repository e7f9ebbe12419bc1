package intake

import (
	"bytes"
	"io"
	"net"
	"testing"
)

// Readers that read nothing are disconnected before a wearable for which less waits than its
// share, in whatever order they are sent to; it then gets everything that it was sent.
func TestSlowReadersAreDisconnected(t *testing.T) {
	const clients = 64                                                                         // as many as the broker has
	packet := func(size int) []byte { return append([]byte{3<<4 | 2}, make([]byte, size)...) } // QoS 1
	for _, inTurn := range []bool{true, false} {
		all := &unreads{bytes: map[*unread]int{}}
		open := func() (*unread, net.Conn) {
			ours, theirs := net.Pipe()
			u := &unread{Conn: ours, group: all}
			t.Cleanup(func() { theirs.Close(); u.Close(); u.writers.Wait() })
			return u, theirs
		}
		wearable, reads := open()
		first := packet(maxAllUnread/clients - 1000)
		if _, err := wearable.Write(first); err != nil {
			t.Fatal(err)
		}
		var readers []*unread
		for range clients - 1 {
			u, _ := open()
			readers = append(readers, u)
		}
		p := packet(60 << 10)
		ended := map[*unread]bool{}
		for i := range len(readers) * (maxUnread/len(p) + 1) {
			u := readers[i/(maxUnread/len(p)+1)]
			if inTurn {
				u = readers[i%len(readers)]
			}
			if _, err := u.Write(p); err != nil {
				ended[u] = true
			}
			all.mu.Lock()
			held := 0
			for _, n := range all.bytes {
				held += n
			}
			if held != all.sum || held > maxAllUnread {
				t.Fatalf("%d bytes wait, %d are noted", held, all.sum)
			}
			all.mu.Unlock()
		}
		if len(ended) == 0 {
			t.Error("no reader ended")
		}
		if _, err := wearable.Write(first[:900]); err != nil {
			t.Fatalf("the wearable ended: %v", err)
		}
		got := make([]byte, len(first)+900)
		if _, err := io.ReadFull(reads, got); err != nil || !bytes.Equal(got, append(bytes.Clone(first), first[:900]...)) {
			t.Errorf("the wearable missed something: %v", err)
		}
	}
}
