package xiaozhi_test

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"strings"
	"testing"

	mqtt "github.com/eclipse/paho.mqtt.golang"

	"github.com/locket-dev/locket/firmware-bridge/carry"
	"github.com/locket-dev/locket/firmware-bridge/carry/carrytest"
	"github.com/locket-dev/locket/firmware-bridge/carry/xiaozhi"
	frame "github.com/locket-dev/locket/firmware-bridge/frame/xiaozhi"
	"github.com/locket-dev/locket/firmware-bridge/link"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node/extract/sound"
	"github.com/locket-dev/locket/node/intake/wire"
)

// login asks at the OTA address, like a device that is told to use MQTT.
func login(t *testing.T, base string) frame.MQTT {
	t.Helper()
	r, err := http.NewRequest("POST", base+"/sesame/ota/", strings.NewReader(`{"version":2,},"board":{}}`))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Device-Id", mac)
	r.Header.Set("Client-Id", "aeebef32-f0ef-4bce-9d8a-894d91bc6932")
	r.Header.Set("User-Agent", "bread-compact-wifi/2.0.0")
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	var c struct {
		Firmware  struct{ URL string }
		MQTT      *frame.MQTT
		Websocket any
	}
	if err != nil || json.Unmarshal(b, &c) != nil || c.MQTT == nil || c.Firmware.URL != "" || c.Websocket != nil {
		t.Fatalf("%s, %v", b, err)
	}
	return *c.MQTT
}

// offline counts how often the device was reported idle.
func offline(events []memory.Event) (n int) {
	for _, e := range carrytest.OfKind(events, memory.KindStatus) {
		if e.Metadata[wire.MetaState] == "offline" {
			n++
		}
	}
	return n
}

func heardPackets(t *testing.T, events []memory.Event) (out [][]byte) {
	t.Helper()
	for _, e := range carrytest.OfKind(events, memory.KindAudio) {
		list, err := wire.Packets(e.Data)
		if err != nil {
			t.Error(err)
		}
		out = append(out, list...)
	}
	return out
}

// A conversation by MQTT and UDP with lost, late and repeated packets, an answer aloud, a goodbye
// after which the next conversation has another key, and a pause.
func TestMQTT(t *testing.T) {
	packets := speech(t)
	n, _, base, stop := houseWith(t, &link.Sockets{Device: mac, MQTT: "127.0.0.1:0"})
	d, err := enter(t, login(t, base))
	if err != nil {
		t.Fatal(err)
	}
	d.greet()
	d.say(fmt.Sprintf(`{"session_id":%q,"type":"listen","state":"detect","text":"Hi XiaoZhi"}`, d.id))
	d.listen("start")
	var sent [][]byte
	for _, p := range packets {
		sent = append(sent, d.ch.Seal(0, p))
	}
	noise := bytes.Clone(sent[3])
	noise[4] ^= 1 // a datagram of another session
	d.send(sent[0], sent[1], sent[1], noise, sent[2], sent[3], []byte("x"))
	d.send(sent[6], sent[5], sent[7], sent[0]) // 4 is lost, 5 is late, 0 is replayed
	d.send(sent[8:]...)
	// Datagrams and MQTT messages have no order relative to each other.
	n.Disk.Until(t, "the first second", func() bool { return len(heardPackets(t, n.Disk.Events)) >= 17 })
	d.listen("stop")
	n.Disk.Until(t, "the end of what was said", func() bool {
		list := carrytest.OfKind(n.Disk.Events, memory.KindAudio)
		return len(list) > 0 && list[len(list)-1].Last
	})
	want := append(append([][]byte{}, packets[:4]...), packets[5:]...)
	got := heardPackets(t, n.Disk.OfKind(memory.KindAudio))
	if len(got) > len(want) || len(got) < 17 {
		t.Fatalf("%d packets, want %d", len(got), len(want))
	}
	for i := range got { // the last ones may arrive after the stop
		if !bytes.Equal(got[i], want[i]) {
			t.Fatalf("packet %d is another", i)
		}
	}
	n.Disk.Until(t, "the gap", func() bool {
		for _, e := range carrytest.OfKind(n.Disk.Events, memory.KindGap) {
			if strings.Contains(e.Reason, "1 audio notifications lost: 5") {
				return true
			}
		}
		return false
	})

	// An answer comes as datagrams between start and stop.
	if err := n.In.Say("pin", "On Tuesday."); err != nil {
		t.Fatal(err)
	}
	spoken := make(chan int, 1)
	ch := d.ch
	go func() {
		b := make([]byte, 4096)
		var dec sound.Decoder
		samples := 0
		for {
			k, err := d.udp.Read(b)
			if err != nil {
				return // the test is over
			}
			list, err := ch.Push(b[:k])
			if err != nil {
				t.Error(err)
			}
			for _, h := range list {
				pcm, err := dec.Decode("opus", 16000, h.Packet)
				if err != nil {
					t.Error(err)
				}
				samples += len(pcm)
			}
			if samples > sound.Rate/2 {
				select {
				case spoken <- samples:
				default:
				}
			}
		}
	}()
	for _, state := range []string{"start", "sentence_start", "stop"} {
		if m, _ := d.hears("tts"); m.State != state {
			t.Fatalf("%+v, want %s", m, state)
		}
	}
	select {
	case <-spoken:
	case <-carrytest.Deadline(t).Done():
		t.Fatal("no half second was spoken")
	}

	d.say(fmt.Sprintf(`{"session_id":%q,"type":"goodbye"}`, d.id))
	n.Disk.Until(t, "idle", func() bool { return offline(n.Disk.Events) == 1 })
	before := len(n.Disk.OfKind(memory.KindAudio))
	d.send(d.ch.Seal(0, packets[0]))
	first := d.id
	d.greet()
	if d.id == first {
		t.Error("the same session again")
	}
	n.In.SetPaused(true)
	if m, _ := d.hears("goodbye"); m.Session != d.id {
		t.Errorf("%+v", m)
	}
	if !d.mqtt.IsConnected() {
		t.Error("the connection ended with the pause")
	}
	n.In.SetPaused(false)
	d.mqtt.Disconnect(0)
	rep := stop()
	if rep.Lost != 1 || rep.Doubled < 2 || rep.Spoilt != 0 || rep.Presses != 1 || rep.Connections != 1 {
		t.Errorf("%+v", rep)
	}
	if got := len(n.Disk.OfKind(memory.KindAudio)); got != before {
		t.Errorf("%d pieces of sound after the goodbye", got-before)
	}
}

// Somebody who has captured the session's datagrams and sends them from another address is ignored.
func TestMQTTReplayFromAnotherAddress(t *testing.T) {
	packets := speech(t)
	n, _, base, stop := houseWith(t, &link.Sockets{Device: mac, MQTT: "127.0.0.1:0"})
	d, err := enter(t, login(t, base))
	if err != nil {
		t.Fatal(err)
	}
	d.greet()
	d.listen("start")
	stranger, err := net.DialUDP("udp", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 2)}, d.udp.RemoteAddr().(*net.UDPAddr))
	if err != nil {
		t.Fatal(err)
	}
	defer stranger.Close()
	for _, p := range packets {
		b := d.ch.Seal(0, p)
		for range 3 {
			if _, err := stranger.Write(b); err != nil {
				t.Fatal(err)
			}
		}
		d.send(b)
	}
	n.Disk.Until(t, "the first second", func() bool { return len(heardPackets(t, n.Disk.Events)) >= 17 })
	d.mqtt.Disconnect(0)
	if rep := stop(); rep.Doubled != 0 || rep.Spoilt != 0 {
		t.Errorf("%+v", rep)
	}
}

// Strangers don't get in by MQTT, and a second connection replaces the first.
func TestMQTTAuthentication(t *testing.T) {
	n, _, base, _ := houseWith(t, &link.Sockets{Device: mac, MQTT: "127.0.0.1:0"})
	m := login(t, base)
	for _, bad := range []func(*frame.MQTT){
		func(m *frame.MQTT) { m.Password = "" },
		func(m *frame.MQTT) { m.Password = "c2VzYW1l" },
		func(m *frame.MQTT) { m.Client = strings.Replace(m.Client, "49_34", "49_35", 1) },
		func(m *frame.MQTT) { m.Client = "locket" },
		func(m *frame.MQTT) { m.User += "x" },
	} {
		other := m
		bad(&other)
		if d, err := enter(t, other); err == nil {
			t.Errorf("%+v was let in: %v", other, d)
		}
	}
	first, err := enter(t, m)
	if err != nil {
		t.Fatal(err)
	}
	first.greet()
	tok := first.mqtt.Subscribe("#", 0, nil).(*mqtt.SubscribeToken)
	<-tok.Done()
	if tok.Result()["#"] != 0x80 {
		t.Errorf("it may listen in: %v", tok.Result())
	}
	m.Client = strings.Replace(m.Client, "bc6932", "bc6933", 1)
	if _, err := enter(t, m); err == nil {
		t.Error("a login is good for another client id")
	}
	second, err := enter(t, login(t, base))
	if err != nil {
		t.Fatal(err)
	}
	second.greet()
	n.Disk.Until(t, "the first one's end", func() bool { return offline(n.Disk.Events) == 1 })
	if !second.mqtt.IsConnected() {
		t.Error("the second one is gone, too")
	}
	// Garbage ends nothing; a message that is too large only ends its own connection.
	second.say("no JSON")
	second.greet()
	second.mqtt.Publish("device-server", 0, false, make([]byte, 1<<20))
	n.Disk.Until(t, "its end", func() bool { return offline(n.Disk.Events) >= 1 })
	third, err := enter(t, login(t, base))
	if err != nil {
		t.Fatal(err)
	}
	third.greet()
}

// The simulated device uses datagrams if the link loses packets.
func TestSimulatedUDP(t *testing.T) {
	n := carrytest.NewNode(t)
	b := n.Bridge(t, carrytest.StatePath(t), xiaozhi.Family, xiaozhi.Family.Simulate(carry.Play{Amount: 40, Reboot: 1, Loss: .3}))
	rep, err := carry.Run(carrytest.Deadline(t), b.Cfg)
	if err != nil || rep.Frames != 80 || rep.Connections != 2 || rep.Presses != 2 || rep.Waiting != 0 || rep.Lost != 0 {
		t.Errorf("%+v, %v", rep, err)
	}
}

// Over a bad link with reboots, each packet is there once, or its absence is named.
func TestSimulatedBadLink(t *testing.T) {
	const amount, reboots = 200, 3
	n := carrytest.NewNode(t)
	d := &link.Faulty{Dialer: xiaozhi.Family.Simulate(carry.Play{Amount: amount, Reboot: reboots, Loss: .3, Reorder: true}), Loss: .3, Reorder: true, Rand: rand.New(rand.NewPCG(5, 6))}
	rep, err := carry.Run(carrytest.Deadline(t), n.Bridge(t, carrytest.StatePath(t), xiaozhi.Family, d).Cfg)
	if err != nil || rep.Connections != reboots+1 || rep.Waiting+rep.Dropped+rep.Refused > 0 {
		t.Fatalf("%+v, %v", rep, err)
	}
	times, latest := map[uint64]int{}, map[uint64]uint64{} // the latest packet of each connection
	for _, p := range heardPackets(t, n.Disk.OfKind(memory.KindAudio)) {
		i := binary.BigEndian.Uint64(p[len(p)-8:])
		times[i]++
		latest[i/amount] = max(latest[i/amount], i%amount+1)
	}
	all := 0 // up to the latest of each: nothing shows that there was more after it
	for _, l := range latest {
		all += int(l)
	}
	for i, n := range times {
		if n != 1 {
			t.Errorf("packet %d is there %d times", i, n)
		}
	}
	named := 0
	for _, e := range n.Disk.OfKind(memory.KindGap) {
		var k int
		if _, err := fmt.Sscanf(e.Reason, "%d audio notifications lost", &k); err != nil {
			t.Errorf("%q: %v", e.Reason, err)
		}
		named += k
	}
	if len(times)+named != all || rep.Lost != named || rep.Frames != len(times) || all < 3*amount || named < all/5 {
		t.Errorf("%d packets came and %d are named, of %d: %+v", len(times), named, all, rep)
	}
}
