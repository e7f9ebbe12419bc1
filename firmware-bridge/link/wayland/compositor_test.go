package wayland

import (
	"context"
	"errors"
	"image"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// compositor answers like a real one, except for what a test changes. It serves one client.
type compositor struct {
	t       *testing.T
	conn    *net.UnixConn
	files   []int             // files that came and don't belong to a pool yet
	kinds   map[uint32]string // interfaces of the client's objects
	pool    int               // the file of the latest pool
	last    uint32            // the latest frame
	asked   chan string       // requests that are not answered
	without string            // an interface that it does not have
	mute    string            // a request that is not answered
	keeps   bool              // no object's number is released
	frame   []any             // the arguments of the buffer event: format, width, height, stride
	fill    func(file int)    // writes the pixels
	bad     func(c *compositor)
}

// listen serves at a socket until the test ends.
func (c *compositor) listen(t *testing.T) (path string) {
	t.Helper()
	dir, err := os.MkdirTemp("", "way") // a socket's path has 107 bytes at most
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("unix", filepath.Join(dir, "wayland-0"))
	if err != nil {
		t.Fatal(err)
	}
	c.t, c.kinds, c.asked = t, map[uint32]string{display: "wl_display", 0: ""}, make(chan string, 16)
	if c.frame == nil {
		c.frame = []any{uint32(formatBGRX), uint32(2), uint32(2), uint32(8)}
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		conn, err := l.Accept()
		if err != nil {
			return // the test ended before
		}
		c.conn = conn.(*net.UnixConn)
		defer conn.Close()
		c.serve()
	}()
	t.Cleanup(func() {
		l.Close()
		<-done
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	return l.Addr().String()
}

func (c *compositor) say(object uint32, op uint16, args ...any) {
	_, _ = c.conn.Write(appendMessage(nil, object, op, args...)) // the client may have closed the connection
}

func (c *compositor) serve() {
	var d Decoder
	b, oob := make([]byte, 1<<16), make([]byte, 1024)
	for {
		n, on, _, _, err := c.conn.ReadMsgUnix(b, oob)
		if err != nil || n == 0 {
			return
		}
		if list, err := unix.ParseSocketControlMessage(oob[:on]); err == nil {
			for _, m := range list {
				files, _ := unix.ParseUnixRights(&m)
				c.files = append(c.files, files...)
			}
		}
		list, err := d.Push(b[:n])
		if err != nil {
			c.t.Error(err)
			return
		}
		for _, m := range list {
			if !c.answer(m) {
				return
			}
		}
	}
}

// answer refuses what a real compositor refuses: an object that does not exist, and a number that
// is in use.
func (c *compositor) answer(m Message) (goOn bool) {
	a := &arguments{b: m.Args}
	kind, ok := c.kinds[m.Object]
	request := kind + " " + string(rune('0'+m.Op))
	if !ok {
		c.say(display, 0, m.Object, uint32(0), "invalid object")
		return false
	}
	if request == c.mute {
		c.asked <- request
		return true
	}
	switch request {
	case "wl_display 0":
		id := c.made(a.uint(), "wl_callback")
		c.say(id, 0, uint32(0))
		c.over(id)
	case "wl_display 1":
		id := c.made(a.uint(), "wl_registry")
		for i, kind := range []string{"wl_seat", shmName, outputName, copyName, toplevelName} {
			if kind != c.without {
				c.say(id, 0, uint32(i), kind, uint32(9))
			}
		}
	case "wl_registry 0":
		_, kind, _ := a.uint(), a.string(), a.uint()
		c.bind(c.made(a.uint(), kind), kind)
	case copyName + " 0":
		id := c.made(a.uint(), "frame")
		c.say(id, 0, c.frame...)
		if c.last = id; c.bad != nil {
			c.bad(c)
		}
	case shmName + " 0":
		c.made(a.uint(), "wl_shm_pool")
		c.pool, c.files = c.files[0], c.files[1:]
	case "wl_shm_pool 0":
		c.made(a.uint(), "wl_buffer")
	case "frame 0":
		c.fill(c.pool)
		unix.Close(c.pool)
		c.say(m.Object, 1, uint32(0))
		c.say(m.Object, 2, uint32(0), uint32(0), uint32(0))
		c.say(a.uint(), 0) // the buffer is released
	case "frame 1", "wl_shm_pool 1", "wl_buffer 0":
		c.over(m.Object)
	}
	return true
}

func (c *compositor) made(id uint32, kind string) uint32 {
	if _, used := c.kinds[id]; used || id >= serverFirst {
		c.say(display, 0, uint32(display), uint32(0), "invalid new object")
	}
	c.kinds[id] = kind
	return id
}

func (c *compositor) over(id uint32) {
	if c.keeps {
		return
	}
	delete(c.kinds, id)
	c.say(display, 1, id)
}

func (c *compositor) bind(id uint32, kind string) {
	switch kind {
	case outputName:
		c.say(id, 0, int32(0), int32(0), int32(0), int32(0), int32(0), "maker", "model", int32(0))
		c.say(id, 1, uint32(1), int32(2), int32(2), int32(60000))
		c.say(id, 4, "OUT-1")
		c.say(id, 2)
	case toplevelName:
		c.say(id, 0, uint32(serverFirst))
		c.say(serverFirst, 0, "Letter")
		c.say(serverFirst, 1, "editor")
		c.say(serverFirst, 4, uint32(4), uint32(stateActivated))
		c.say(serverFirst, 5)
	}
}

func fillWith(b ...byte) func(int) {
	return func(file int) { _, _ = unix.Pwrite(file, b, 0) }
}

func (c *compositor) dial(t *testing.T) *Client {
	t.Helper()
	client, err := Dial(t.Context(), c.listen(t))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { client.Close() })
	return client
}

// A window, an output, and its content, as often as asked, without more objects each time.
func TestClient(t *testing.T) {
	pixels := []byte{1, 2, 3, 0, 4, 5, 6, 0, 7, 8, 9, 0, 10, 11, 12, 0}
	c := (&compositor{fill: fillWith(pixels...)}).dial(t)
	if c.PID() != os.Getpid() {
		t.Errorf("process %d", c.PID())
	}
	s, err := c.State(t.Context())
	if err != nil || len(s.Windows) != 1 || len(s.Outputs) != 1 {
		t.Fatalf("%+v, %v", s, err)
	}
	if w := s.Windows[0]; w.App != "editor" || w.Title != "Letter" || !w.Activated || w.Minimized || w.Maximized || w.Fullscreen {
		t.Errorf("%+v", w)
	}
	out := s.Outputs[0]
	if out.Name != "OUT-1" || out.Width != 2 || out.Height != 2 {
		t.Errorf("%+v", out)
	}
	for range 100 {
		p, err := c.Capture(t.Context(), out.ID, image.Pt(2, 2), image.Rect(0, 0, 2, 2))
		if err != nil || p.Width != 2 || p.Height != 2 || string(p.Pix) != string(pixels) {
			t.Fatalf("%+v, %v", p, err)
		}
	}
	if c.next > 20 {
		t.Errorf("%d numbers for objects", c.next)
	}
	if _, err := c.Capture(t.Context(), 99, image.Pt(2, 2), image.Rect(0, 0, 2, 2)); !errors.Is(err, ErrNoPicture) {
		t.Error(err)
	}
	again, err := c.State(t.Context())
	if err != nil || again.Turn != s.Turn {
		t.Errorf("turn %d, then %d, %v", s.Turn, again.Turn, err)
	}
}

func TestMissing(t *testing.T) {
	for _, kind := range []string{copyName, toplevelName, shmName} {
		if got := (&compositor{without: kind}).dial(t).Missing(); len(got) != 1 || got[0] != kind {
			t.Errorf("%s: %q", kind, got)
		}
	}
}

func frameOf(format, width, height, stride uint32) []any { return []any{format, width, height, stride} }

func TestBadPictures(t *testing.T) {
	for _, c := range []struct {
		name string
		c    compositor
		want string
	}{
		{"2^31 wide", compositor{frame: frameOf(0, 1<<31, 1, 1<<31)}, "a picture of 2147483648×1 pixels"},
		{"2^31 high", compositor{frame: frameOf(0, 1, 1<<31, 4)}, "a picture of 1×2147483648 pixels"},
		{"too much", compositor{frame: frameOf(0, 16384, 16384, 65536)}, "a picture of 16384×16384"},
		{"long rows", compositor{frame: frameOf(0, 1, 2, 1<<31)}, "with 2147483648 bytes a row"},
		{"short rows", compositor{frame: frameOf(0, 2, 2, 7)}, "with 7 bytes a row"},
		{"nothing", compositor{frame: frameOf(0, 0, 0, 0)}, "a picture of 0×0"},
		{"10 bits", compositor{frame: frameOf(0x30335258, 2, 2, 8)}, "pixels of format 0x30335258"},
		{"24 bits", compositor{frame: frameOf(0x34324752, 2, 2, 6)}, "pixels of format 0x34324752"},
		{"16 bits", compositor{frame: frameOf(0x36314752, 2, 2, 4)}, "pixels of format 0x36314752"},
		{"no memory any more", compositor{fill: func(file int) { _ = unix.Ftruncate(file, 3) }}, "read the picture"},
		{"it ends", compositor{bad: func(c *compositor) { c.conn.Close() }}, ""},
		{"it says rubbish", compositor{bad: func(c *compositor) { _, _ = c.conn.Write([]byte(strings.Repeat("\xff", 64))) }}, "a message of 65535 bytes"},
		{"it fails", compositor{frame: nil, bad: func(c *compositor) { c.say(c.last, 3) }, mute: "frame 0"}, ErrNoPicture.Error()},
		{"it refuses", compositor{bad: func(c *compositor) { c.say(display, 0, c.last, uint32(1), "not you") }}, "error 1 of zwlr_screencopy_frame_v1: not you"},
	} {
		if c.c.fill == nil {
			c.c.fill = fillWith(make([]byte, 16)...)
		}
		client := c.c.dial(t)
		s, err := client.State(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		unread := strings.Contains("too much, 10 bits, 24 bits, 16 bits", c.name)
		if _, err = client.Capture(t.Context(), s.Outputs[0].ID, image.Pt(2, 2), image.Rect(0, 0, 2, 2)); err == nil || !strings.Contains(err.Error(), c.want) || errors.Is(err, ErrUnread) != unread {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
		if _, err := client.State(t.Context()); unread && err != nil {
			t.Errorf("%s: the connection ends: %v", c.name, err)
		}
	}
}

// The client waits for a compositor that does not answer until the context ends, and gives up its
// request.
func TestNoAnswer(t *testing.T) {
	for _, mute := range []string{"wl_display 0", copyName + " 0", "frame 0"} {
		comp := &compositor{mute: mute}
		path := comp.listen(t)
		ctx, cancel := context.WithCancel(t.Context())
		go func() {
			<-comp.asked
			cancel()
		}()
		client, err := Dial(ctx, path)
		if err == nil {
			var s State
			if s, err = client.State(t.Context()); err == nil {
				_, err = client.Capture(ctx, s.Outputs[0].ID, image.Pt(2, 2), image.Rect(0, 0, 2, 2))
			}
			client.Close()
		}
		if !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v", mute, err)
		}
	}
}

func TestEnds(t *testing.T) {
	if _, err := Dial(t.Context(), filepath.Join(t.TempDir(), "none")); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
	c := (&compositor{keeps: true}).dial(t)
	var err error
	for range maxObjects {
		if _, err = c.State(t.Context()); err != nil {
			break
		}
	}
	if !errors.Is(err, ErrProtocol) {
		t.Errorf("it keeps all objects: %v", err)
	}
	comp := &compositor{}
	c = comp.dial(t)
	comp.conn.Close()
	<-c.Done()
	if !errors.Is(c.Err(), io.EOF) {
		t.Error(c.Err())
	}
	if c.Close() != nil {
		t.Error("not once")
	}
	if c.Close() != nil {
		t.Error("not twice")
	}
}

// Each pixel of a picture of 3×2 goes where a person sees it, for each transform of the output.
func TestRotatedOutputs(t *testing.T) {
	f := frame{format: formatRGBX, width: 3, height: 2, stride: 12}
	file, err := memory(24)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	for i, letter := range []byte("abcdef") {
		if _, err := file.WriteAt([]byte{letter, 0, 1, 0}, int64(4*i)); err != nil {
			t.Fatal(err)
		}
	}
	for by, want := range []string{"abcdef", "daebfc", "fedcba", "cfbead", "cbafed", "adbecf", "defabc", "fcebda"} {
		size := image.Pt(3-by&1, 2+by&1)
		p, err := f.picture(file, by, size, image.Rectangle{Max: size})
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		for i := 0; i < len(p.Pix); i += 4 {
			got += string(rune(p.Pix[i+2])) // red
		}
		if got != want || p.Width != size.X || p.Height != size.Y || p.Pix[0] != 1 {
			t.Errorf("turned by %d: %s of %d×%d, want %s", by, got, p.Width, p.Height, want)
		}
	}
}

func TestPhysicalPixels(t *testing.T) {
	for _, c := range []struct {
		part          image.Rectangle
		logical, size image.Point
		want          image.Rectangle // empty: there is none
	}{
		{image.Rect(1, 2, 3, 4), image.Pt(10, 10), image.Pt(10, 10), image.Rect(1, 2, 3, 4)},
		{image.Rect(1, 2, 3, 4), image.Pt(10, 10), image.Pt(20, 20), image.Rect(2, 4, 6, 8)},
		{image.Rect(1, 1, 3, 3), image.Pt(10, 10), image.Pt(15, 15), image.Rect(2, 2, 4, 4)}, // 1.5 to 4.5
		{image.Rect(5, 5, 90, 90), image.Pt(10, 10), image.Pt(10, 10), image.Rect(5, 5, 10, 10)},
		{image.Rect(10, 10, 20, 20), image.Pt(10, 10), image.Pt(10, 10), image.Rectangle{}},
		{image.Rect(1, 1, 2, 2), image.Pt(10, 10), image.Pt(4, 4), image.Rectangle{}}, // it contains no whole pixel
		{image.Rect(0, 0, 2, 2), image.Pt(0, 0), image.Pt(4, 4), image.Rectangle{}},
	} {
		got, ok := physical(c.part, c.logical, c.size)
		if ok != !c.want.Empty() || ok && got != c.want {
			t.Errorf("%v of %v at %v: %v, %v, want %v", c.part, c.logical, c.size, got, ok, c.want)
		}
	}
}
