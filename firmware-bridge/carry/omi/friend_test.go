package omi_test

import (
	"encoding/binary"
	"encoding/json"
	"math"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/locket-dev/locket/firmware-bridge/carry/carrytest"
	"github.com/locket-dev/locket/firmware-bridge/carry/omi"
	"github.com/locket-dev/locket/memory"
)

// A Friend's LC3 is decoded: what comes is what was said, as far as 24 kbit/s carry it.
func TestFriend(t *testing.T) {
	b, err := os.ReadFile("../../frame/omi/testdata/friend-notifications.json")
	if err != nil {
		t.Fatal(err)
	}
	var v struct{ Packets []string }
	if err := json.Unmarshal(b, &v); err != nil {
		t.Fatal(err)
	}
	said, err := os.ReadFile("../../lc3/testdata/jfk-3s-16k.pcm")
	if err != nil {
		t.Fatal(err)
	}
	var capture strings.Builder
	capture.WriteString(`{"t":1773489600000,"op":"connect","device":"Friend","mtu":247}` + "\n")
	line := func(i int, hex string) {
		capture.WriteString(`{"t":` + strconv.Itoa(1773489600000+30*i) + `,"char":"01000000-1111-1111-1111-111111111111","hex":"` + hex + `"}` + "\n")
	}
	for i, p := range v.Packets {
		line(i, p)
	}
	line(len(v.Packets), v.Packets[0][:2*20]) // a piece of a frame
	n := carrytest.NewNode(t)
	_, rep := carrytest.Play(t, n, omi.Family, []byte(capture.String()))
	if rep.Frames != 60 || rep.Spoilt != 1 {
		t.Errorf("%+v", rep)
	}
	var pcm []byte
	for _, e := range n.Disk.Of(memory.KindAudio) {
		if pcm = append(pcm, e.Data...); e.Codec != "pcm16" || e.Rate != 16000 {
			t.Errorf("%s at %d", e.Codec, e.Rate)
		}
	}
	if want := 2 * (60*160 - 40); len(pcm) != want {
		t.Fatalf("%d bytes of %d", len(pcm), want)
	}
	var d, w float64
	for i := 0; i < len(pcm); i += 2 {
		x, y := float64(int16(binary.LittleEndian.Uint16(pcm[i:]))), float64(int16(binary.LittleEndian.Uint16(said[i:])))
		d, w = d+(x-y)*(x-y), w+y*y
	}
	if far := math.Sqrt(d / w); far > .6 {
		t.Errorf("%.2f from what was said", far)
	} else {
		t.Logf("%.2f from what was said", far)
	}
}
