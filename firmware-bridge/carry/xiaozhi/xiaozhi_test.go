package xiaozhi_test

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"github.com/locket-dev/locket/firmware-bridge/carry"
	"github.com/locket-dev/locket/firmware-bridge/carry/carrytest"
	"github.com/locket-dev/locket/firmware-bridge/carry/xiaozhi"
	frame "github.com/locket-dev/locket/firmware-bridge/frame/xiaozhi"
	"github.com/locket-dev/locket/firmware-bridge/link"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node/extract/sound"
	"github.com/locket-dev/locket/node/intake/wire"
)

const mac = "a0:85:e3:f4:49:34"

// speech is the firmware's own "welcome", in packets of 60 ms.
func speech(t *testing.T) (packets [][]byte) {
	t.Helper()
	b, err := os.ReadFile("../../frame/xiaozhi/testdata/framing.json")
	if err != nil {
		t.Fatal(err)
	}
	var v struct{ Opus []string }
	if err := json.Unmarshal(b, &v); err != nil {
		t.Fatal(err)
	}
	for _, s := range v.Opus {
		p, err := hex.DecodeString(s)
		if err != nil {
			t.Fatal(err)
		}
		packets = append(packets, p)
	}
	return packets
}

// house is a bridge that listens for a device.
func house(t *testing.T, device string) (n *carrytest.Node, b *carrytest.Bridge, base string, stop func() carry.Report) {
	return houseWith(t, &link.Sockets{Device: device})
}

func houseWith(t *testing.T, s *link.Sockets) (n *carrytest.Node, b *carrytest.Bridge, base string, stop func() carry.Report) {
	n = carrytest.NewNode(t)
	s.Listen, s.Key, s.Config = "127.0.0.1:0", "sesame", xiaozhi.Family.Config
	addr, err := s.Open()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	b = n.Bridge(t, carrytest.StatePath(t), xiaozhi.Family, s)
	return n, b, "http://" + addr.String(), b.Start(t)
}

// server asks at the OTA address for the server, as the device does.
func server(t *testing.T, base string) (url, token string) {
	t.Helper()
	// A device without a screen sends broken JSON.
	r, err := http.NewRequest("POST", base+"/sesame/ota/", strings.NewReader(`{"version":2,"minimum_free_heap_size":"8318916",},"board":{}}`))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Device-Id", mac)
	r.Header.Set("User-Agent", "bread-compact-wifi/2.0.0")
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != 200 {
		t.Fatalf("%s: %s, %v", resp.Status, b, err)
	}
	var c struct {
		Firmware   struct{ Version, URL string }
		Websocket  struct{ URL, Token string }
		MQTT       any
		Activation any
	}
	if err := json.Unmarshal(b, &c); err != nil || c.Firmware.URL != "" || c.Firmware.Version != "2.0.0" || c.MQTT != nil || c.Activation != nil {
		t.Fatalf("%s, %v", b, err)
	}
	return c.Websocket.URL, c.Websocket.Token
}

type device struct {
	*websocket.Conn
	t *testing.T
}

func connect(t *testing.T, url, token, version, id string) *device {
	t.Helper()
	c, _, err := websocket.DefaultDialer.DialContext(carrytest.Deadline(t), url, http.Header{"Authorization": {"Bearer " + token}, "Protocol-Version": {version}, "Device-Id": {id}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return &device{c, t}
}

func (d *device) say(text string) {
	d.t.Helper()
	if err := d.WriteMessage(websocket.TextMessage, []byte(text)); err != nil {
		d.t.Fatal(err)
	}
}

const hello = `{"type":"hello","version":1,"features":{"mcp":true},"transport":"websocket","audio_params":{"format":"opus","sample_rate":16000,"channels":1,"frame_duration":60}}`

func (d *device) greet() {
	d.t.Helper()
	d.say(hello)
	_, b, err := d.ReadMessage()
	if m, e := frame.Read(b); err != nil || e != nil || m.Type != "hello" || !strings.Contains(string(b), `"transport":"websocket"`) {
		d.t.Fatalf("%s, %v, %v", b, err, e)
	}
}

// A device is woken, speaks and goes, in each version of the protocol.
func TestVersions(t *testing.T) {
	packets := speech(t)
	n, _, base, stop := house(t, "")
	url, token := server(t, base)
	for version := 1; version <= 3; version++ {
		d := connect(t, url, token, fmt.Sprint(version), mac)
		d.greet()
		d.say(`{"session_id":"x","type":"listen","state":"detect","text":"Hi XiaoZhi"}`)
		d.say(`{"session_id":"x","type":"listen","state":"detect","text":"Hi "Jane""}`) // with the quoting of the firmware
		d.say(`{"session_id":"x","type":"listen","state":"start","mode":"manual"}`)
		for i, p := range packets {
			if err := d.WriteMessage(websocket.BinaryMessage, frame.Frame(version, uint32(60*i), p)); err != nil {
				t.Fatal(err)
			}
		}
		d.say(`{"session_id":"x","type":"listen","state":"stop"}`)
		n.Disk.Until(t, "the end of what was said", func() bool {
			lasts := 0
			for _, e := range carrytest.OfKind(n.Disk.Events, memory.KindAudio) {
				if e.Last {
					lasts++
				}
			}
			return lasts == version
		})
		if err := d.WriteMessage(websocket.CloseMessage, nil); err != nil {
			t.Fatal(err)
		}
	}
	n.Disk.Until(t, "idle", func() bool {
		list := carrytest.OfKind(n.Disk.Events, memory.KindStatus)
		return list[len(list)-1].Metadata[wire.MetaState] == "offline"
	})
	rep := stop()
	if rep.Frames != 3*len(packets) || rep.Presses != 3 || rep.Spoilt != 3 || rep.Connections != 3 {
		t.Errorf("%+v", rep)
	}
	var got [][]byte
	var d sound.Decoder
	samples := 0
	for _, e := range n.Disk.OfKind(memory.KindAudio) {
		list, err := wire.Packets(e.Data)
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range list {
			pcm, err := d.Decode(e.Codec, e.Rate, p)
			if err != nil {
				t.Fatal(err)
			}
			samples += len(pcm)
			got = append(got, p)
		}
	}
	for i, p := range got {
		if string(p) != string(packets[i%len(packets)]) {
			t.Fatalf("packet %d is another", i)
		}
	}
	if want := 3 * len(packets) * 960; samples != want {
		t.Errorf("%d samples, want %d", samples, want)
	}
}

// TestThreatBridgeDoor: strangers find nothing, and a second socket of the device replaces the
// first.
func TestThreatBridgeDoor(t *testing.T) {
	n, _, base, _ := house(t, mac)
	url, token := server(t, base)
	get := func(path, id, auth string) int {
		r, err := http.NewRequest("GET", base+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Device-Id", id)
		r.Header.Set("Authorization", auth)
		resp, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		return resp.StatusCode
	}
	for _, c := range []struct {
		path, id, auth string
		want           int
	}{
		{"/", mac, "", 404}, {"/ota/", mac, "", 404}, {"/xiaozhi/ota/", mac, "", 404}, {"/sesame/ota/", "00:00:00:00:00:01", "", 403},
		{"/sesame/ws", mac, "", 401}, {"/sesame/ws", mac, "Bearer wrong", 401}, {"/sesame/ws", "00:00:00:00:00:01", "Bearer sesame", 403}, {"/sesame/ws", mac, "Bearer sesame", 400},
	} {
		if got := get(c.path, c.id, c.auth); got != c.want {
			t.Errorf("%+v: %d", c, got)
		}
	}
	first := connect(t, url, token, "1", mac)
	first.greet()
	second := connect(t, url, token, "1", strings.ToUpper(mac))
	if _, _, err := first.ReadMessage(); err == nil {
		t.Error("the first socket is still there")
	}
	second.greet()
	// While the wearer pauses, the device is idle.
	n.In.SetPaused(true)
	if _, _, err := second.ReadMessage(); err == nil {
		t.Error("the device goes on in a pause")
	}
	n.Disk.Until(t, "idle", func() bool {
		list := carrytest.OfKind(n.Disk.Events, memory.KindStatus)
		return len(list) > 0 && list[len(list)-1].Metadata[wire.MetaState] == "offline"
	})
	third := connect(t, url, token, "1", mac)
	third.say(hello)
	if _, _, err := third.ReadMessage(); err == nil {
		t.Error("the device was greeted in a pause")
	}
	if got := len(n.Disk.OfKind(memory.KindAudio)); got != 0 {
		t.Errorf("%d pieces of sound", got)
	}
}

// A malformed message is ignored, or ends the connection, and is reported.
func TestMalformedMessages(t *testing.T) {
	n, b, base, stop := house(t, "")
	url, token := server(t, base)
	d := connect(t, url, token, "2", mac)
	for _, odd := range [][]byte{{}, {0, 2}, frame.Frame(2, 0, speech(t)[0])} { // and sound before the hello
		if err := d.WriteMessage(websocket.BinaryMessage, odd); err != nil {
			t.Fatal(err)
		}
	}
	d.say("no JSON")
	d.greet()
	d.greet() // repeating it does no harm
	if err := d.WriteMessage(websocket.BinaryMessage, frame.Frame(2, 0, []byte{3})); err != nil {
		t.Fatal(err)
	}
	if err := d.WriteMessage(websocket.BinaryMessage, make([]byte, 100<<10)); err != nil {
		t.Fatal(err)
	}
	if _, _, err := d.ReadMessage(); err == nil {
		t.Error("a message of 100 KiB was taken")
	}
	future := connect(t, url, token, "9", mac)
	if _, _, err := future.ReadMessage(); err == nil {
		t.Error("version 9 was served")
	}
	stereo := connect(t, url, token, "1", mac)
	stereo.say(strings.Replace(hello, `"channels":1`, `"channels":2`, 1))
	if _, _, err := stereo.ReadMessage(); err == nil {
		t.Error("stereo was taken")
	}
	n.Disk.Until(t, "gaps", func() bool { return len(carrytest.OfKind(n.Disk.Events, memory.KindGap)) > 0 })
	for len(b.Notes("disconnected")) < 3 {
		time.Sleep(time.Millisecond) // the device sees the end before the bridge has reported the reason, and no event tells when it has
	}
	rep := stop()
	if rep.Spoilt != 5 || rep.Frames != 0 {
		t.Errorf("%+v", rep)
	}
	all := strings.Join(b.Notes("disconnected"), "\n")
	for _, want := range []string{"protocol version \"9\" is not known", "with 2 channels"} {
		if !strings.Contains(all, want) {
			t.Errorf("no %q in %s", want, all)
		}
	}
}

// The simulated device is woken and speaks, twice.
func TestSimulated(t *testing.T) {
	n := carrytest.NewNode(t)
	b := n.Bridge(t, carrytest.StatePath(t), xiaozhi.Family, xiaozhi.Family.Simulate(carry.Play{Amount: 40, Reboot: 1}))
	rep, err := carry.Run(context.Background(), b.Cfg)
	if err != nil || rep.Frames != 80 || rep.Connections != 2 || rep.Presses != 2 || rep.Waiting != 0 {
		t.Errorf("%+v, %v", rep, err)
	}
}

// An answer is played between start and stop, in the device's protocol version, and ends when the
// wearer interrupts it.
func TestAnswer(t *testing.T) {
	n, b, base, _ := house(t, "")
	url, token := server(t, base)
	d := connect(t, url, token, "3", mac)
	d.greet()
	d.say(`{"session_id":"x","type":"listen","state":"detect","text":"Hi XiaoZhi"}`)
	n.Disk.Until(t, "the wake word", func() bool { return len(carrytest.OfKind(n.Disk.Events, memory.KindButton)) == 1 })
	for _, abort := range []bool{false, true} {
		const text = "On Tuesday."
		long := text
		if abort {
			long = strings.Repeat("This is a long answer. ", 20)
		}
		if err := n.In.Say("pin", long); err != nil {
			t.Fatal(err)
		}
		var said []string
		var dec sound.Decoder
		samples := 0
		for len(said) == 0 || said[len(said)-1] != "stop" {
			kind, m, err := d.ReadMessage()
			if err != nil {
				t.Fatal(err)
			}
			if kind == websocket.BinaryMessage {
				packet, text, err := frame.Parse(3, m)
				if err != nil || text || len(said) != 2 {
					t.Fatalf("after %q: %v", said, err)
				}
				pcm, err := dec.Decode("opus", 16000, packet)
				if err != nil {
					t.Fatal(err)
				}
				if samples += len(pcm); abort && samples == len(pcm) {
					d.say(`{"session_id":"x","type":"abort","reason":"wake_word_detected"}`)
				}
				continue
			}
			var v struct{ Type, State, Text string }
			if err := json.Unmarshal(m, &v); err != nil || v.Type != "tts" || v.State == "sentence_start" && v.Text != strings.TrimSpace(long) && v.Text != long {
				t.Fatalf("%s, %v", m, err)
			}
			said = append(said, v.State)
		}
		if seconds := float64(samples) / sound.Rate; seconds < .5 || seconds > 5 {
			t.Errorf("%.1f s were spoken, abort %v", seconds, abort)
		}
	}
	if got := b.Notes("warning"); len(got) > 0 {
		t.Error(got)
	}
}

// If a device sends nothing, the bridge waits as long as the device would wait for it.
func TestMissingHello(t *testing.T) {
	s, err := xiaozhi.Family.Begin(t.Context(), &carry.Conn{})
	if err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	if err := s.Tick(t.Context(), began.Add(9*time.Second)); err != nil {
		t.Errorf("after 9 s: %v", err)
	}
	if err := s.Tick(t.Context(), began.Add(11*time.Second)); err == nil || !strings.Contains(err.Error(), "no hello within 10s") {
		t.Errorf("after 11 s: %v", err)
	}
}
