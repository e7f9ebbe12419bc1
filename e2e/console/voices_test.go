package console

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/locket-dev/locket/internal/testing/speechtest"
	"github.com/locket-dev/locket/node/serve"
)

// listening returns a tab of a Chromium whose microphone hears a recording in a loop.
func listening(t *testing.T, wav, to string) *tab {
	t.Helper()
	b := chromium(t, chromedp.Flag("autoplay-policy", "no-user-gesture-required"), chromedp.Flag("use-fake-device-for-media-stream", true),
		chromedp.Flag("use-fake-ui-for-media-stream", true), chromedp.Flag("use-file-for-fake-audio-capture", wav))
	b.do(network.Enable(), log.Enable(), runtime.Enable(), emulation.SetDeviceMetricsOverride(1440, 1000, 1, false),
		emulation.SetLocaleOverride().WithLocale("en-GB"), chromedp.Navigate(to), chromedp.WaitVisible("aside.side"))
	t.Cleanup(func() {
		for _, w := range b.wrong {
			t.Error(w)
		}
	})
	return b
}

// The wearer's voice is learnt from the browser's microphone, another person's from a file; a
// voice without a name is played, named by keyboard, and forgotten.
func TestVoices(t *testing.T) {
	absolute := func(name string) string {
		t.Helper()
		path, err := filepath.Abs(name)
		if err != nil {
			t.Fatal(err)
		}
		return path
	}
	jfk, other := absolute("../../wasm/plugins/speech/testdata/audio/jfk.wav"), absolute("../../wasm/plugins/speech/testdata/audio/spk1_snt1.wav")
	ears := speechtest.Whisper(t)
	home, c := ownHome(t)
	if _, err := c.AddEngine(t.Context(), serve.AddEngineRequest{Kind: "ears", Address: ears.URL}); err != nil {
		t.Fatal(err)
	}
	b := listening(t, jfk, linkOf(t, home).URL)
	b.palette("learn a voice")
	b.do(chromedp.WaitVisible("dialog [name=file]"))
	b.says("alone")
	b.accessible("enrol")
	b.do(chromedp.Focus("dialog .button.solid"), chromedp.KeyEvent(kb.Enter), chromedp.WaitVisible("dialog [role=timer]"))
	b.until(`+document.querySelector("dialog [role=timer]")?.dataset.secs >= 2`)
	b.shoot("enrol")
	b.press("dialog .button.solid") // too short
	b.do(chromedp.WaitVisible("dialog .notice.bad"))
	b.says("of speech were found in it")
	b.press("dialog .button.solid")
	b.until(`+document.querySelector("dialog [role=timer]")?.dataset.secs >= 20`)
	b.press("dialog .button.solid")
	b.do(chromedp.WaitNotPresent("dialog"), chromedp.WaitVisible(".voices .rows li"))
	b.says("Locket has learnt the voice.")
	v, err := c.Voices(t.Context())
	if err != nil || len(v.Voices) != 1 || !v.Voices[0].Wearer || v.Voices[0].Seconds < 10 {
		t.Fatalf("%+v, %v", v, err)
	}

	dir := t.TempDir()
	day := filepath.Join(dir, "day.jsonl")
	if err := os.WriteFile(day, fmt.Appendf(nil, "{\"kind\":\"day\",\"date\":\"2026-10-02\",\"zone\":\"Asia/Shanghai\",\"wearer\":\"Mei\"}\n{\"at\":\"2026-10-02T10:37:03+08:00\",\"kind\":\"audio\",\"device\":\"pin\",\"file\":%q}\n", filepath.Base(other)), 0o600); err != nil {
		t.Fatal(err)
	}
	sound, err := os.ReadFile(other)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, filepath.Base(other)), sound, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := command(home, "replay", day); err != nil {
		t.Fatal(err)
	}
	b.do(chromedp.WaitVisible(".voices .badge.warn")) // by itself
	b.do(chromedp.WaitVisible(".voices .sound button"), chromedp.ScrollIntoView(".voices .rows"))
	b.accessible("voices")
	b.shoot("voices")
	b.do(chromedp.Click(".voices .sound button"), chromedp.WaitVisible(`.voices .sound [aria-pressed=true]`))
	b.press(".voices li:nth-child(2) .button:not(.danger)")
	b.do(chromedp.WaitVisible("dialog [name=name]"), chromedp.KeyEvent("Grace <b>H</b>"), chromedp.KeyEvent(kb.Enter), chromedp.WaitNotPresent("dialog"))
	b.until(`document.querySelector(".voices li:nth-child(2) strong")?.innerText === "Grace <b>H</b>"`)
	b.harmless("voices")

	speech, err := os.ReadFile(jfk)
	if err != nil {
		t.Fatal(err)
	}
	twice := filepath.Join(dir, "twice.wav")
	at := bytes.Index(speech, []byte("data")) + 8
	long := append(bytes.Clone(speech), speech[at:]...)
	binary.LittleEndian.PutUint32(long[4:], uint32(len(long)-8))
	binary.LittleEndian.PutUint32(long[at-4:], uint32(len(long)-at))
	if err := os.WriteFile(twice, long, 0o600); err != nil {
		t.Fatal(err)
	}
	b.do(chromedp.Click("[data-act=enrol]"), chromedp.WaitVisible("dialog [name=file]"), chromedp.SendKeys("dialog [name=name]", "Otto"), chromedp.SetUploadFiles("dialog [name=file]", []string{day}))
	b.says("This file can't be read as a recording.")
	b.do(chromedp.SetUploadFiles("dialog [name=file]", []string{twice}))
	b.until(`!document.querySelector("dialog [name=file]")?.disabled && document.querySelector("dialog .notice.bad")?.innerText.includes("can't be read") !== true`)
	if said := js[string](b, `document.querySelector("dialog .notice.bad")?.innerText ?? ""`); !strings.Contains(said, "the voice of Mei") {
		t.Errorf("the wearer's voice under another name: %q", said)
	}
	b.do(chromedp.KeyEvent(kb.Escape), chromedp.WaitNotPresent("dialog"))

	b.do(chromedp.Click(".voices li:nth-child(2) .danger"), chromedp.WaitVisible("dialog .danger"))
	b.says("erased from all its files")
	b.do(chromedp.Click("dialog .danger"), chromedp.WaitNotPresent("dialog"))
	b.until(`document.querySelectorAll(".voices .rows li").length === 1`)
	if v, err := c.Voices(t.Context()); err != nil || len(v.Voices) != 1 {
		t.Errorf("%+v, %v", v, err)
	}

	for _, l := range []look{{"zh-CN", 360, 740, true}, {"en-GB", 360, 740, false}} {
		phone := openAt(t, l, linkOf(t, home).URL)
		phone.visit("/devices", ".voices .rows li")
		phone.do(chromedp.Evaluate(`document.querySelector(".voices").scrollIntoView()`, nil))
		phone.fits("voices")
		phone.accessible("voices")
		phone.shoot("voices-" + l.String())
	}
}
