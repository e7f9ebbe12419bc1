package carry_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"image"
	"image/jpeg"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/locket-dev/locket/firmware-bridge/carry"
	"github.com/locket-dev/locket/firmware-bridge/carry/files"
	"github.com/locket-dev/locket/firmware-bridge/carry/homeassistant"
	"github.com/locket-dev/locket/firmware-bridge/link"
	"github.com/locket-dev/locket/memory"
)

// brokerOf is a broker that keeps a stock's items as messages until they are acknowledged.
func brokerOf(s stock, reboots int, gone func(stock), message func(item []byte) link.Notification) *link.Queue {
	left, all := make([]bool, len(s.Items)), slices.Clone(s.Items)
	q := &link.Queue{HalfwayEnds: reboots}
	for i, b := range all {
		left[i] = true
		q.Messages = append(q.Messages, message(b))
	}
	q.OnAcked = func(i int) {
		left[i], s.Items = false, nil
		for i, b := range all {
			if left[i] {
				s.Items = append(s.Items, b)
			}
		}
		gone(s)
	}
	return q
}

// stated is a message of Home Assistant's integration.
type stated struct {
	Topic, Payload string
	Says           []string // for a change: what is to be in the node
}

const frontDoor = "statestream/binary_sensor/front_door/"

// inHouse is a house whose Home Assistant publishes with QoS 1. MQTT loses no single message: what
// was not acknowledged when the connection ended comes again unchanged.
var inHouse = stocked{
	family: homeassistant.Family, loops: 60, slow: 400,
	make: func(n int) (s stock) {
		add := func(m stated) {
			b, err := json.Marshal(m)
			must(err)
			s.Items = append(s.Items, b)
		}
		states := [...][2]string{{"on", "opened"}, {"off", "closed"}}
		for i := range n / 3 {
			at := time.Unix(1773489600, 0).Add(time.Duration(i)*time.Minute + jump(i, n/3)).UTC()
			what := states[i%2]
			add(stated{frontDoor + "state", what[0], []string{fmt.Sprintf("%d Front door was %s.", at.Unix(), what[1])}})
			add(stated{frontDoor + "last_changed", at.Format("2006-01-02T15:04:05.000000-07:00"), nil})
			add(stated{frontDoor + "friendly_name", `"Front door"`, nil})
		}
		return s
	},
	device: func(s stock, reboots int, gone func(stock)) link.Dialer {
		q := brokerOf(s, reboots, gone, func(b []byte) link.Notification {
			var m stated
			must(json.Unmarshal(b, &m))
			return link.Notification{Char: m.Topic, Data: []byte(m.Payload)}
		})
		q.Patience = 2 * time.Second // a state has to settle first
		q.Retained = []link.Notification{{Char: frontDoor + "device_class", Data: []byte(`"door"`)}, {Char: frontDoor + "friendly_name", Data: []byte(`"Front door"`)}}
		return q
	},
	holds: func(b []byte) []string {
		var m stated
		must(json.Unmarshal(b, &m))
		return m.Says
	},
	said: func(e *memory.Event) []string {
		if e.Kind != memory.KindText {
			return nil
		}
		return []string{fmt.Sprintf("%d %s", e.At.Unix(), e.Text)}
	},
}

// inFolder are notes, photos and recordings, some of which have two names. An item is a file's
// name.
var inFolder = stocked{
	family: files.Family, loops: 40,
	make: func(n int) (s stock) {
		for i := range n {
			end := "txt"
			switch {
			case i%50 == 7:
				end = "wav"
			case i%5 == 3:
				end = "jpg"
			}
			s.Items = append(s.Items, fmt.Appendf(nil, "%06d.%s", i, end))
		}
		return s
	},
	device: func(s stock, reboots int, gone func(stock)) link.Dialer {
		dir := filepath.Join(os.Getenv("KILLED_DIR"), "memos")
		must(os.MkdirAll(dir, 0o700))
		put := func(name string, b []byte) {
			path := filepath.Join(dir, name)
			if _, err := os.Stat(path); err != nil { // otherwise an earlier start has put it there
				must(errors.Join(os.WriteFile(path+".part", b, 0o600), os.Rename(path+".part", path)))
			}
		}
		for _, name := range s.Items {
			b := fileOf(string(name))
			put(string(name), b)
			if name[5] == '1' {
				put(copyOf+string(name), b)
			}
		}
		return &watchedFolder{of: link.Folder{Dir: dir, Every: 5 * time.Millisecond, SettleTime: 10 * time.Millisecond}, left: s, gone: gone, reboots: reboots}
	},
	holds: func(name []byte) []string { return partsOf(fileOf(string(name))) },
	said: func(e *memory.Event) []string {
		if e.Kind == memory.KindText {
			return []string{e.Text}
		}
		return partsOf(e.Data)
	},
}

// copyOf is the prefix of a file's second name.
const copyOf = "copy of "

// filePiece is how many bytes of samples become a message.
const filePiece = 512 << 10

// fileOf makes a file's content: a note, a photo, or a recording that becomes three messages.
func fileOf(name string) []byte {
	var i uint64
	_, err := fmt.Sscanf(name, "%d", &i)
	must(err)
	switch filepath.Ext(name) {
	case ".txt":
		return fmt.Appendf(nil, "note %d", i)
	case ".jpg":
		dice, img := rand.New(rand.NewPCG(i, 0)), image.NewGray(image.Rect(0, 0, 16, 16))
		for p := range img.Pix {
			img.Pix[p] = byte(dice.IntN(256))
		}
		var b bytes.Buffer
		must(jpeg.Encode(&b, img, nil))
		return b.Bytes()
	}
	pcm := append(append(marked(3*i, filePiece), marked(3*i+1, filePiece)...), marked(3*i+2, 1000)...)
	le := binary.LittleEndian
	b := le.AppendUint32([]byte("RIFF"), uint32(36+len(pcm)))
	b = le.AppendUint32(append(b, "WAVEfmt "...), 16)
	b = le.AppendUint16(le.AppendUint16(b, 1), 1) // samples, one channel
	b = le.AppendUint32(le.AppendUint32(b, 16000), 32000)
	b = le.AppendUint16(le.AppendUint16(b, 2), 16)
	return append(le.AppendUint32(append(b, "data"...), uint32(len(pcm))), pcm...)
}

// partsOf returns the parts of a file's bytes, or of a message's.
func partsOf(b []byte) (out []string) {
	if ids := marks(b); len(ids) > 0 {
		for _, id := range ids {
			out = append(out, fmt.Sprint("piece ", id))
		}
		return out
	}
	if len(b) == 0 {
		return nil
	}
	return []string{string(b)}
}

// watchedFolder is a folder whose connection ends in the middle a given number of times, as if its
// disk were taken out. It makes no more connections once the node has all files.
type watchedFolder struct {
	of      link.Folder
	left    stock
	gone    func(stock)
	reboots int
	now     link.Device
	until   int // how many files are left when this connection ends
}

func (w *watchedFolder) Connect(ctx context.Context) (d link.Device, err error) {
	if len(w.left.Items) == 0 {
		return nil, io.EOF
	}
	w.until = 0
	if w.reboots > 0 {
		w.reboots--
		w.until = len(w.left.Items) / 2
	}
	w.now, err = w.of.Connect(ctx)
	return w.now, err
}

// told is called by the session's goroutine.
func (w *watchedFolder) told(n carry.Note) {
	var name string
	if _, err := fmt.Sscanf(n.Text, "%q is with the node", &name); n.What != "file" || err != nil {
		return
	}
	name = strings.TrimPrefix(name, copyOf)
	at := slices.IndexFunc(w.left.Items, func(b []byte) bool { return string(b) == name })
	if at < 0 {
		return // the bridge was killed before it had noted that, and sent it again
	}
	w.left.Items = slices.Delete(w.left.Items, at, at+1)
	w.gone(w.left)
	if len(w.left.Items) <= w.until {
		must(w.now.Close())
	}
}
