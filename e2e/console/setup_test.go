package console

import (
	"bufio"
	"encoding/json"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/locket-dev/locket/node/serve"
)

// newcomer is a locket open process without a home.
type newcomer struct {
	t    *testing.T
	home string
	cmd  *exec.Cmd
	out  *bufio.Reader
	err  strings.Builder
	link string
}

func beginSetup(t *testing.T, home string) *newcomer {
	t.Helper()
	n := &newcomer{t: t, home: home}
	n.cmd = exec.Command(locket, "--home", home, "--set", "disk.reserve=64MB", "--set", "broker.listen=127.0.0.1:0", "--json", "open", "--print")
	n.cmd.Env = append(os.Environ(), "XDG_CONFIG_HOME="+filepath.Dir(home), "TMPDIR="+t.TempDir()) // it may leave files there, because it may be killed
	n.cmd.Stderr = &n.err
	out, err := n.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := n.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = n.end(os.Interrupt) }) // it may have ended
	n.out = bufio.NewReader(out)
	line, err := n.out.ReadString('\n')
	if err != nil {
		t.Fatal(err, n.err.String())
	}
	var l serve.ConsoleLink
	if err := json.Unmarshal([]byte(line), &l); err != nil {
		t.Fatal(line, err)
	}
	n.link = l.URL
	return n
}

func (n *newcomer) end(by os.Signal) error {
	_ = n.cmd.Process.Signal(by)
	return n.cmd.Wait()
}

// come opens the link in a new browser.
func (n *newcomer) come(l look) *tab {
	n.t.Helper()
	b := blank(n.t, l)
	u, err := url.Parse(n.link)
	if err != nil {
		n.t.Fatal(err)
	}
	b.origin = u.Scheme + "://" + u.Host
	b.do(chromedp.Navigate(n.link))
	return b
}

// seen runs the checks of all pages on a step.
func (b *tab) seen(name string, l look) {
	b.t.Helper()
	b.settled()
	b.fits(name)
	b.shoot("setup-" + name + "-" + l.String())
	b.accessible(name)
}

// stepped waits until the heading of a step has the keyboard focus.
func (b *tab) stepped(title string) {
	b.t.Helper()
	b.until(`document.activeElement.matches("h1") && document.activeElement.innerText === ` + quoted(title))
}

// types replaces the text of a field.
func (b *tab) types(name, text string) {
	b.t.Helper()
	b.until(`(f => (f.focus(), f.select(), true))(document.querySelector("[name=` + name + `]"))`)
	b.do(chromedp.KeyEvent(text))
}

// words returns the words that the page shows.
func (b *tab) words() []string {
	b.t.Helper()
	b.do(chromedp.WaitVisible(".setup-words li"))
	return js[[]string](b, `[...document.querySelectorAll(".setup-words li")].map(l => l.innerText.trim())`)
}

func (b *tab) asked() []int {
	b.t.Helper()
	b.do(chromedp.WaitVisible("[name=word0]"))
	return js[[]int](b, `[...document.querySelectorAll("[name^=word]")].map(i => Number(i.closest("label").innerText.match(/\d+/)[0]))`)
}

// A new home by keyboard alone: with a passphrase, the words checked, a wearable, and a
// first line that comes back.
func TestSetupByKeyboard(t *testing.T) {
	n := beginSetup(t, filepath.Join(t.TempDir(), "home"))
	b := n.come(plain)
	b.do(chromedp.WaitVisible("[name=wearer]"))
	b.seen("you", plain)
	b.types("languages", "de，German")
	b.types("wearer", "Mei")
	b.do(chromedp.KeyEvent(kb.Enter), chromedp.WaitVisible("[name=passphrase]"))

	second := n.come(plain) // the link was already used
	second.says("This link was used")

	b.stepped("How should it open?")
	b.do(chromedp.Focus("[name=passphrase]"), chromedp.KeyEvent("correct horse"), chromedp.KeyEvent(kb.Tab), chromedp.KeyEvent("correct house"), chromedp.KeyEvent(kb.Enter))
	b.says("The two do not match.")
	b.seen("open", plain)
	b.do(chromedp.Focus("[name=again]"), chromedp.KeyEvent(kb.Backspace), chromedp.KeyEvent(kb.Backspace), chromedp.KeyEvent(kb.Backspace), chromedp.KeyEvent("rse"), chromedp.KeyEvent(kb.Enter))
	b.until(`document.querySelector("[name=languages]")?.ariaInvalid === "true"`)
	b.says("These are not language codes")
	b.seen("languages", plain)
	b.types("languages", "de, pt-BR")
	b.says("German · Brazilian Portuguese")
	b.do(chromedp.KeyEvent(kb.Enter), chromedp.WaitVisible("[name=passphrase]"))
	b.press(".setup .button.solid")
	words := b.words()
	if len(words) != 24 {
		t.Fatal(words)
	}
	b.seen("words", plain)
	if _, err := os.Stat(filepath.Join(n.home, "keys")); err == nil {
		t.Error("there is a home before its words are checked")
	}
	b.press(".setup .button.solid")
	ask := b.asked()
	if got := js[string](b, "document.body.innerText"); strings.Contains(got, words[0]+"\n"+words[1]) {
		t.Error("the words stand beside the question for them")
	}
	b.stepped("Check")
	b.do(chromedp.Focus("[name=word0]"))
	for i, at := range ask {
		word := words[at-1]
		if i == 1 {
			word = "wrong"
		}
		b.do(chromedp.KeyEvent(word), chromedp.KeyEvent(kb.Tab))
	}
	b.press(".setup .button.solid")
	b.until(`document.querySelector("[name=word1]").ariaInvalid === "true" && document.activeElement.name === "word1"`)
	b.seen("check", plain)
	b.do(chromedp.KeyEvent(words[ask[1]-1]), chromedp.KeyEvent(kb.Enter))

	b.do(chromedp.WaitVisible("[name=wearable]"))
	b.stepped("Wearables")
	b.seen("wear", plain)
	b.do(chromedp.Focus("[name=wearable]"), chromedp.KeyEvent("pendant"), chromedp.KeyEvent(kb.Enter), chromedp.WaitVisible("dialog .qr"))
	b.do(chromedp.KeyEvent(kb.Escape), chromedp.WaitNotPresent("dialog"))
	b.press(".setup footer .button.solid")
	b.do(chromedp.WaitVisible(".engine-kind"))
	b.seen("engines", plain)
	b.press(".setup footer .plain")
	b.do(chromedp.WaitVisible("[data-act=login]"))
	b.press("[data-act=login]")
	b.says("locket.service")
	b.seen("login", plain)
	b.press(".setup footer .button.solid")
	b.stepped("Tell it something")
	b.do(chromedp.Focus("[name=text]"), chromedp.KeyEvent("My dentist is Dr. Weber."), chromedp.KeyEvent(kb.Enter))
	b.says("Locket finds it again:")
	b.seen("say", plain)
	b.press(".setup footer .button.solid")
	b.says("Ears, eyes and a mind: on the Devices page.")
	b.seen("done", plain)
	b.press(".setup .button.solid")
	b.do(chromedp.WaitVisible("aside.side"))
	b.says("Dr. Weber")

	c, err := client(n.home)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	s, err := c.Status(t.Context())
	if err != nil || s.Wearer != "Mei" || s.Locked || s.Devices != 1 {
		t.Errorf("%+v, %v", s, err)
	}
	if got, err := os.ReadFile(filepath.Join(n.home, "config.toml")); err != nil || !strings.Contains(string(got), "languages = ['de', 'pt-BR']") {
		t.Errorf("%s, %v", got, err)
	}
	unit, err := os.ReadFile(filepath.Join(filepath.Dir(n.home), "systemd", "user", "locket.service"))
	if err != nil || !strings.Contains(string(unit), n.home) {
		t.Error(string(unit), err)
	}
	rest, err := os.ReadDir(n.home)
	for _, e := range rest {
		if strings.HasPrefix(e.Name(), "setup") {
			t.Error(e.Name(), "is left")
		}
	}
	if err != nil {
		t.Error(err)
	}
	for _, w := range words[:2] { // they are in no log, no settings and no file
		if strings.Contains(n.err.String(), w+" ") {
			t.Error("a word is logged:", n.err.String())
		}
	}
}

// The same by mouse, on a phone in Chinese, with a key file and everything else left for
// later. If it is ended earlier, by the page or by force, nothing is left behind.
func TestSetupByMouse(t *testing.T) {
	l := look{"zh-CN", 360, 740, true}
	dir := t.TempDir()
	home := filepath.Join(dir, "home")
	toWords := func(b *tab, name bool) []string {
		t.Helper()
		b.do(chromedp.WaitVisible("[name=wearer]"))
		if name {
			b.seen("you", l)
		}
		b.do(chromedp.Click(".setup .button.solid"), chromedp.WaitVisible("[value=key-file]"), chromedp.Click("[value=key-file]"))
		if name {
			b.seen("open", l)
		}
		b.do(chromedp.Click(".setup .button.solid"))
		return b.words()
	}
	ended := beginSetup(t, home)
	b := ended.come(l)
	b.do(chromedp.WaitVisible("[name=wearer]"))
	setup := b.origin
	b.do(chromedp.Navigate(link(t).URL), chromedp.WaitVisible("aside.side"))       // another home, in the same browser
	b.do(chromedp.Navigate(setup+"/setup"), chromedp.WaitVisible("[name=wearer]")) // the session of the setup is still valid
	toWords(b, true)
	b.do(chromedp.Click(".setup-end .plain"))
	b.says("没有留下任何东西")
	b.says("要重新开始")
	b.seen("unmade", l)
	if err := ended.cmd.Wait(); err == nil {
		t.Error("a setup that was interrupted exited with success")
	}
	if _, err := os.Stat(home); err == nil {
		t.Error("something is made")
	}

	killed := beginSetup(t, home)
	toWords(killed.come(l), false)
	_ = killed.end(syscall.SIGKILL)
	if _, err := os.Stat(filepath.Join(home, "keys")); err == nil {
		t.Error("a home is made whose words nobody has checked")
	}

	n := beginSetup(t, home)
	b = n.come(l)
	b.do(chromedp.WaitVisible("[name=zone]"))
	zone := js[string](b, `document.querySelector("[name=zone]").value`)
	b.types("zone", "Mars/Olympus")
	b.do(chromedp.Click(".setup .button.solid"), chromedp.WaitVisible("[value=key-file]"), chromedp.Click("[value=key-file]"), chromedp.Click(".setup .button.solid"))
	b.says("没有这个时区")
	b.seen("zone", l)
	b.types("zone", zone)
	words := toWords(b, false)
	b.do(chromedp.Click("[data-act=lang]")) // possible at every step, and it stays there
	b.says("Write down these 24 words")
	if again := b.words(); !slices.Equal(again, words) {
		t.Errorf("the words change with the language of the page: %q, %q", words, again)
	}
	b.do(chromedp.Click("[data-act=lang]"))
	b.says("请抄下这 24 个词")
	b.seen("words", l)
	b.do(chromedp.Reload(), chromedp.WaitVisible("[name=word0]")) // the words are not shown again
	ask := b.asked()
	for i, at := range ask {
		b.do(chromedp.Click("[name=word"+string(rune('0'+i))+"]"), chromedp.KeyEvent(words[at-1]))
	}
	b.seen("check", l)
	b.do(chromedp.Click(".setup .button.solid"), chromedp.WaitVisible("[name=wearable]"))
	for _, step := range []string{"wear", "engines", "login", "say"} {
		title := js[string](b, `document.querySelector("h1").innerText`)
		b.seen(step, l)
		b.do(chromedp.ScrollIntoView(".setup footer.actions .plain"), chromedp.Click(".setup footer.actions .plain"))
		b.until(`document.querySelector("h1").innerText !== ` + quoted(title))
	}
	b.seen("done", l)
	b.do(chromedp.Click(".setup a.solid"), chromedp.WaitVisible("aside.side"))
	var keys []*cdp.Node
	b.do(chromedp.Nodes(".welcome", &keys))
	if len(keys) == 0 {
		t.Error("the new home does not say how to begin")
	}
	// It has no relay yet: the Sharing page says so, and leads to where one is added.
	b.visit("/sharing", ".notice a.link")
	b.seen("alone", l)
	b.do(chromedp.Click(".notice a.link"))
	b.until(`document.activeElement?.name === "relay"`)
	if got := js[string](b, "localStorage.getItem('locket.key') ?? ''"); strings.Contains(got, words[0]) || js[int](b, "localStorage.length") > 2 {
		t.Error("the browser keeps more than its session")
	}
}
