package homeassistant_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/locket-dev/locket/firmware-bridge/carry"
	"github.com/locket-dev/locket/firmware-bridge/carry/carrytest"
	"github.com/locket-dev/locket/firmware-bridge/carry/homeassistant"
	"github.com/locket-dev/locket/firmware-bridge/link"
	"github.com/locket-dev/locket/firmware-bridge/link/linktest"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node/intake"
)

var options = carry.Options{Prefix: "statestream"}

func lines(events []memory.Event) (out []string) {
	once := map[memory.EventID]bool{}
	for _, e := range carrytest.OfKind(events, memory.KindText) {
		if !once[e.ID] {
			out = append(out, fmt.Sprintf("%s %s: %s", e.At.UTC().Format("15:04:05"), e.Speaker, e.Text))
		}
		once[e.ID] = true
	}
	return out
}

// A house publishes to a real broker. Each change becomes one line with its own time, even if it
// was published while the bridge did not run.
func TestRealBroker(t *testing.T) {
	m := linktest.StartMosquitto(t)
	n := carrytest.NewNode(t)
	path := carrytest.StatePath(t)
	say := func(entity, leaf, payload string) {
		m.Publish(t, "statestream/"+entity+"/"+leaf, []byte(payload), true)
	}
	change := func(entity, state, at string, attributes ...string) {
		say(entity, "state", state)
		if at != "" {
			say(entity, "last_changed", "2026-05-02T"+at+"+00:00")
		}
		for i := 0; i < len(attributes); i += 2 {
			say(entity, attributes[i], attributes[i+1])
		}
	}
	door := []string{"device_class", `"door"`, "friendly_name", `"Front door"`}
	run := func() (*carrytest.Bridge, func() carry.Report) {
		b := n.Bridge(t, path, homeassistant.Family, &link.MQTT{Feed: intake.FeedConfig{
			URL: m.URL, ClientID: "locket-bridge-pin", Username: m.User, Password: m.Password, Topics: homeassistant.Family.Topics(&options)}})
		b.Cfg.Options = options
		return b, b.Start(t)
	}
	until := func(want int) {
		t.Helper()
		n.Disk.Until(t, fmt.Sprintf("%d lines", want), func() bool { return len(lines(n.Disk.Events)) >= want })
	}
	// A retained message has its own time, or none.
	change("binary_sensor/front_door", "off", "05:00:00.5", door...)
	change("lock/cellar", "locked", "04:00:00")
	say("binary_sensor/hall", "device_class", `"motion"`)
	b, stop := run()
	until(2)
	change("binary_sensor/front_door", "on", "05:30:00", door...)
	change("binary_sensor/front_door", "on", "05:30:00", append(door, "icon", `"mdi:door"`)...)
	change("binary_sensor/front_door", "unavailable", "05:31:00", door...)
	change("binary_sensor/front_door", "on", "05:30:00", door...)
	change("cover/garage", "opening", "05:32:00")
	change("cover/garage", "open", "05:32:20")
	change("sensor/outside", "21.5", "05:33:00", "unit_of_measurement", `"°C"`)
	change("sensor/outside", "21.6", "05:34:00", "unit_of_measurement", `"°C"`)
	change("sensor/outside", "22.0", "05:40:00", "unit_of_measurement", `"°C"`)
	change("sensor/phase", "waning", "05:40:00")
	change("binary_sensor/hall", "on", "05:41:00")
	change("binary_sensor/hall", "off", "05:42:00")
	say("binary_sensor/hall", "friendly_name", "Hall")
	say("binary_sensor/hall", "last_changed", "noon")
	until(5)
	n.Disk.Until(t, "two readings", func() bool { return len(carrytest.OfKind(n.Disk.Events, memory.KindSensor)) >= 2 })
	n.Disk.Until(t, "what is wrong", func() bool { return len(carrytest.OfKind(n.Disk.Events, memory.KindGap)) >= 1 })
	stop()
	if err := b.Cfg.Client.Close(); err != nil {
		t.Fatal(err)
	}
	change("binary_sensor/front_door", "off", "06:00:00", door...)
	change("binary_sensor/front_door", "on", "06:10:00", door...)
	change("lock/cellar", "unlocked", "06:11:00")
	_, stop = run()
	until(8)
	stop()
	want := []string{
		"04:00:00 house: cellar was locked.",
		"05:00:00 house: Front door was closed.",
		"05:30:00 house: Front door was opened.",
		"05:32:20 house: garage was opened.",
		"05:41:00 house: hall saw somebody move.",
		"06:00:00 house: Front door was closed.",
		"06:10:00 house: Front door was opened.",
		"06:11:00 house: cellar was unlocked.",
	}
	got := lines(n.Disk.Events)
	if len(got) != len(want) {
		t.Errorf("%q", got)
	}
	for _, w := range want {
		if !strings.Contains(strings.Join(got, "\n"), w) {
			t.Errorf("no %q in %q", w, got)
		}
	}
	once := map[memory.EventID]float64{}
	for _, e := range n.Disk.OfKind(memory.KindSensor) {
		if once[e.ID] = e.Values[0]; e.Unit != "°C" {
			t.Errorf("%+v", e)
		}
	}
	if len(once) != 2 {
		t.Errorf("%v", once)
	}
	told := ""
	for _, e := range n.Disk.OfKind(memory.KindGap) {
		told += e.Reason + "\n"
	}
	for _, want := range []string{"home assistant: an attribute that is not a text: binary_sensor.hall", "home assistant: last_changed is not a time: binary_sensor.hall"} {
		if !strings.Contains(told, want) {
			t.Errorf("no %q in %s", want, told)
		}
	}
}

// A change becomes one line, over connections that end in the middle; a bad link delays it.
func TestSimulated(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		loss         float64
		times, least int // how often doors are opened; how many lines are expected
		reboots      int
	}{{0, 20, 40, 2}, {.1, 6, 9, 0}} { // on each connection, a lost time is waited for
		n := carrytest.NewNode(t)
		b := n.Bridge(t, carrytest.StatePath(t), homeassistant.Family, &link.Faulty{
			Dialer: homeassistant.Family.Simulate(carry.Play{Amount: c.times, Reboot: c.reboots}), Loss: c.loss, Rand: rand.New(rand.NewPCG(5, 5))})
		b.Cfg.Options = options
		rep, err := carry.Run(carrytest.Deadline(t), b.Cfg)
		if err != nil || rep.Spoilt+rep.Waiting+rep.Dropped != 0 || rep.Connections < 1+c.reboots {
			t.Errorf("loss %g: %+v, %v", c.loss, rep, err)
		}
		got := lines(n.Disk.Events)
		if len(got) < c.least || c.loss == 0 && len(got) != c.least {
			t.Errorf("loss %g: %d lines: %q", c.loss, len(got), got)
		}
	}
}

// If a connection ends between a state and its time, there is still only one line.
func TestConnectionEndsBeforeTheTime(t *testing.T) {
	t.Parallel()
	at := time.Now().Add(-time.Second).UTC()
	topic := "statestream/binary_sensor/door/"
	q := &link.Queue{HalfwayEnds: 1, Messages: []link.Notification{
		{Char: topic + "state", Data: []byte("off")}, {Char: topic + "last_changed", Data: []byte(at.Add(-time.Hour).Format(time.RFC3339Nano))},
		{Char: topic + "state", Data: []byte("on")}, // here the connection ends
		{Char: topic + "last_changed", Data: []byte(at.Format(time.RFC3339Nano))},
		{Char: topic + "friendly_name", Data: []byte(`"Door"`)},
	}}
	n := carrytest.NewNode(t)
	b := n.Bridge(t, carrytest.StatePath(t), homeassistant.Family, q)
	b.Cfg.Options = options
	rep, err := carry.Run(carrytest.Deadline(t), b.Cfg)
	if err != nil || rep.Spoilt != 0 || q.Acked() != 5 {
		t.Errorf("%+v, %v", rep, err)
	}
	if got := lines(n.Disk.Events); len(got) != 2 || !strings.HasSuffix(got[1], ": Door went on.") {
		t.Errorf("%q", got)
	}
}

// If there are more entities than room, that is reported once, and the rest is not carried.
func TestEntitiesAreBounded(t *testing.T) {
	t.Parallel()
	q := &link.Queue{Patience: carrytest.Limit}
	at := time.Date(2026, 5, 2, 5, 30, 0, 0, time.UTC).Format(time.RFC3339)
	for i := range 1100 {
		for _, m := range [][2]string{{"state", "on"}, {"last_changed", at}} {
			q.Messages = append(q.Messages, link.Notification{Char: fmt.Sprintf("statestream/binary_sensor/d%04d/%s", i, m[0]), Data: []byte(m[1])})
		}
	}
	n := carrytest.NewNode(t)
	b := n.Bridge(t, carrytest.StatePath(t), homeassistant.Family, q)
	b.Cfg.Options = options
	rep, err := carry.Run(carrytest.Deadline(t), b.Cfg)
	if err != nil || rep.Spoilt != 1 || q.Acked() != 2200 {
		t.Errorf("%+v, %v, %d", rep, err, q.Acked())
	}
	if got := len(lines(n.Disk.Events)); got != 1024 {
		t.Errorf("%d lines", got)
	}
}

// A sensor whose unit is longer than the node takes is carried with the beginning of it, and holds up
// nothing behind it: its message would come again on each connection.
func TestLongUnit(t *testing.T) {
	t.Parallel()
	q := &link.Queue{Patience: carrytest.Limit}
	at := time.Date(2026, 5, 2, 5, 30, 0, 0, time.UTC).Format(time.RFC3339)
	add := func(entity, leaf, payload string) {
		q.Messages = append(q.Messages, link.Notification{Char: "statestream/" + entity + "/" + leaf, Data: []byte(payload)})
	}
	add("sensor/rain", "unit_of_measurement", `"升每平方米每小时（过去七天平均）"`)
	add("sensor/rain", "state", "3")
	add("sensor/rain", "last_changed", at)
	add("binary_sensor/door", "device_class", `"door"`)
	add("binary_sensor/door", "state", "on")
	add("binary_sensor/door", "last_changed", at)
	n := carrytest.NewNode(t)
	b := n.Bridge(t, carrytest.StatePath(t), homeassistant.Family, q)
	b.Cfg.Options = options
	if rep, err := carry.Run(carrytest.Deadline(t), b.Cfg); err != nil || rep.Connections != 1 {
		t.Errorf("%+v, %v", rep, err)
	}
	read := n.Disk.OfKind(memory.KindSensor)
	if len(read) != 1 || read[0].Unit != "升每平方米每小时（过" || len(lines(n.Disk.Events)) != 1 {
		t.Errorf("%+v", n.Disk.Events)
	}
}
