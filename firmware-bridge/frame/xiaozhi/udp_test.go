package xiaozhi

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"reflect"
	"testing"
	"time"

	"github.com/locket-dev/locket/firmware-bridge/frame/frametest"
)

// udpVectors returns packets, and the datagrams that OpenSSL encrypted from them.
func udpVectors(t testing.TB) (key, nonce [16]byte, packets, datagrams [][]byte) {
	t.Helper()
	var v struct {
		Opus []string
		UDP  struct {
			Key, Nonce string
			Datagrams  []string
		}
	}
	frametest.Vectors(t, "framing.json", &v)
	copy(key[:], frametest.Unhex(t, v.UDP.Key))
	copy(nonce[:], frametest.Unhex(t, v.UDP.Nonce))
	for i, d := range v.UDP.Datagrams {
		packets, datagrams = append(packets, frametest.Unhex(t, v.Opus[i])), append(datagrams, frametest.Unhex(t, d))
	}
	return key, nonce, packets, datagrams
}

func TestUDP(t *testing.T) {
	key, nonce, packets, datagrams := udpVectors(t)
	u, server := NewUDP(key, nonce), NewUDP(key, nonce)
	if len(datagrams) != 28 {
		t.Fatal(len(datagrams))
	}
	for i, d := range datagrams {
		got, err := u.Push(d)
		if err != nil || len(got) != 1 || !bytes.Equal(got[0].Packet, packets[i]) || got[0].From != uint32(i+1) {
			t.Fatalf("%d: %+v, %v", i, got, err)
		}
		if b := server.Seal(0, packets[i]); !bytes.Equal(b, d) {
			t.Errorf("%d: sealed as %x, want %x", i, b, d)
		}
		if _, err := u.Push(d); !errors.Is(err, ErrSequence) {
			t.Errorf("%d came twice: %v", i, err)
		}
	}
}

func TestBadUDP(t *testing.T) {
	var v struct {
		UDP []struct{ Name, Hex string }
	}
	frametest.Vectors(t, "bad.json", &v)
	want := map[string]error{
		"shorter than the header": ErrShort, "type 2": ErrType, "one byte too long": ErrSize, "one byte too short": ErrSize,
		"length 65535": ErrSize, "sequence 0 (first is 1)": ErrSequence,
	}
	key, nonce, _, datagrams := udpVectors(t)
	if len(v.UDP) != len(want) {
		t.Errorf("%d vectors", len(v.UDP))
	}
	u := NewUDP(key, nonce)
	for _, c := range v.UDP {
		if _, err := u.Push(frametest.Unhex(t, c.Hex)); want[c.Name] == nil || !errors.Is(err, want[c.Name]) || !errors.Is(err, ErrFormat) {
			t.Errorf("%s: %v", c.Name, err)
		}
	}
	other := append([]byte(nil), datagrams[0]...)
	other[4] ^= 1
	if _, err := u.Push(other); !errors.Is(err, ErrOther) {
		t.Error(err)
	}
	ahead := append([]byte(nil), datagrams[0]...)
	ahead[12] = 1
	if _, err := u.Push(ahead); !errors.Is(err, ErrSequence) {
		t.Error(err)
	}
	if _, err := u.Push(datagrams[0]); err != nil {
		t.Error(err)
	}
	// A datagram encrypted with another key is not taken for the device's sound.
	noise := NewUDP([16]byte{1}, nonce)
	noise.sent = 1
	seen := 0
	for i := range 200 {
		noise.nonce[8], noise.sent = byte(i), uint32(1+i%100) // a different counter each time
		if _, err := u.Push(noise.Seal(0, datagrams[0])); errors.Is(err, ErrSound) {
			seen++
		}
	}
	if seen < 150 {
		t.Errorf("%d of 200 forged ones were seen", seen)
	}
}

// Late packets take their place; missing ones are named.
func TestOrder(t *testing.T) {
	key, nonce, packets, datagrams := udpVectors(t)
	u := NewUDP(key, nonce)
	var got []Arrival
	for _, i := range []int{2, 1, 4, 3, 5, 8, 9, 10, 11, 12, 7, 14} { // 6 and 7 are lost, 7 comes too late, 13 never
		list, err := u.Push(datagrams[i-1])
		if i == 7 && !errors.Is(err, ErrSequence) || i != 7 && err != nil {
			t.Fatalf("%d: %v", i, err)
		}
		got = append(got, list...)
	}
	got = append(got, u.Flush()...)
	var want []Arrival
	for i := uint32(1); i <= 14; i++ {
		switch i {
		case 6:
			want = append(want, Arrival{From: 6, To: 7})
		case 7:
		case 13:
			want = append(want, Arrival{From: 13, To: 13})
		default:
			want = append(want, Arrival{packets[i-1], i, i})
		}
	}
	if !reflect.DeepEqual(got, want) {
		for _, h := range got {
			t.Logf("%d-%d, %d bytes", h.From, h.To, len(h.Packet))
		}
		t.Error("another order")
	}
	if len(u.Flush()) != 0 {
		t.Error("something is left")
	}
}

// Datagrams far ahead don't make the following sound too late. After a long silence, datagrams that
// are as far ahead are believed.
func TestDatagramsFarAhead(t *testing.T) {
	key, nonce, packets, datagrams := udpVectors(t)
	u, forger := NewUDP(key, nonce), NewUDP(key, nonce)
	now := u.heard
	u.now = func() time.Time { return now }
	forger.sent = 60000
	for range held + 1 {
		if _, err := u.Push(forger.Seal(0, packets[0])); !errors.Is(err, ErrSequence) {
			t.Errorf("%v of a datagram far ahead", err)
		}
	}
	if got, err := u.Push(datagrams[0]); err != nil || len(got) != 1 {
		t.Errorf("%+v, %v", got, err)
	}
	forger.sent = 2000
	late := forger.Seal(0, packets[1])
	if _, err := u.Push(late); !errors.Is(err, ErrSequence) {
		t.Errorf("%v of two minutes at once", err)
	}
	now = now.Add(2000 * u.lasts)
	got, err := u.Push(late)
	if got = append(got, u.Flush()...); err != nil || len(got) != 2 || got[0].From != 2 || got[0].To != 2000 || !bytes.Equal(got[1].Packet, packets[1]) {
		t.Errorf("after two minutes: %+v, %v", got, err)
	}
}

// The answers match the firmware's documents.
func TestAnswersUDP(t *testing.T) {
	var v struct {
		MQTT []struct {
			From string
			JSON map[string]any
		}
		OTA struct {
			Response map[string]any `json:"response_mqtt"`
		}
	}
	frametest.Vectors(t, "sessions.json", &v)
	hello := v.MQTT[2].JSON
	hello["audio_params"].(map[string]any)["sample_rate"] = 16000.
	key, nonce, _, _ := udpVectors(t)
	var got map[string]any
	if err := json.Unmarshal(HelloUDP(hello["session_id"].(string), "192.168.1.2", 8884, key, nonce), &got); err != nil || !reflect.DeepEqual(got, hello) {
		t.Errorf("%v\nwant %v", got, hello)
	}
	m, err := Read(HelloUDP("s", "h", 1, key, nonce))
	if err != nil || m.UDP.Key != hex.EncodeToString(key[:]) || m.UDP.Nonce != hex.EncodeToString(nonce[:]) {
		t.Errorf("%+v, %v", m, err)
	}
	at := v.OTA.Response["server_time"].(map[string]any)
	q := v.OTA.Response["mqtt"].(map[string]any)
	text := func(name string) string { return q[name].(string) }
	b := Config(time.UnixMilli(int64(at["timestamp"].(float64))).In(time.FixedZone("", 60*int(at["timezone_offset"].(float64)))), "x/2.0.0", "", "",
		&MQTT{text("endpoint"), text("client_id"), text("username"), text("password"), text("publish_topic"), text("subscribe_topic")})
	got = nil
	if err := json.Unmarshal(b, &got); err != nil || !reflect.DeepEqual(got, v.OTA.Response) {
		t.Errorf("%s\nwant %v", b, v.OTA.Response)
	}
}

func FuzzUDP(f *testing.F) {
	key, nonce, _, datagrams := udpVectors(f)
	f.Add(datagrams[0], datagrams[2])
	f.Fuzz(func(t *testing.T, a, b []byte) {
		u := NewUDP(key, nonce)
		next := uint32(1)
		for _, d := range [][]byte{a, b, a} {
			list, err := u.Push(d)
			if err != nil && !errors.Is(err, ErrFormat) {
				t.Error(err)
			}
			for _, h := range append(list, u.Flush()...) {
				if h.From != next || h.To < h.From || h.Packet != nil && h.From != h.To {
					t.Fatalf("%d-%d, want %d", h.From, h.To, next)
				}
				next = h.To + 1
			}
		}
	})
}
