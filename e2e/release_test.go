package e2e

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// A package has the same bytes whenever it is built from the same source, in any folder, and has
// its files where a system expects them.
func TestPackageIsReproducible(t *testing.T) {
	dir := t.TempDir()
	elsewhere := filepath.Join(dir, "another folder")
	copySource(t, elsewhere)
	tool := filepath.Join(dir, "locket-release")
	build := exec.Command("go", "build", "-o", tool, ".")
	build.Dir = "../cmd/locket-release"
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	var debs [2][]byte
	for i, root := range []string{"..", elsewhere} {
		out := filepath.Join(dir, "out"+string(rune('1'+i)))
		cmd := exec.Command(tool, "--deb", "--root", root, "--version", "v0.1.0", "--commit", "0123456789abcdef", "--time", "2026-11-22T10:00:00Z", "--targets", "linux/amd64", "--out", out)
		if text, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		var err error
		if debs[i], err = os.ReadFile(filepath.Join(out, "locket_0.1.0_amd64.deb")); err != nil {
			t.Fatal(err)
		}
	}
	if !bytes.Equal(debs[0], debs[1]) {
		t.Errorf("two folders give two packages, of %d and %d bytes", len(debs[0]), len(debs[1]))
	}
	deb := filepath.Join(dir, "out1", "locket_0.1.0_amd64.deb")
	about := dpkg(t, "-I", deb)
	for _, want := range []string{"Package: locket\n", "Version: 0.1.0\n", "Architecture: amd64\n", "Depends: adduser\n", "postinst", "postrm", "prerm"} {
		if !strings.Contains(about, want) {
			t.Errorf("no %q in\n%s", want, about)
		}
	}
	list := dpkg(t, "-c", deb)
	for _, want := range []string{`-rwxr-xr-x root/root +\d+ 2026-11-22 10:00 \./usr/bin/locket\n`, `\./usr/bin/locket-bridge\n`, `-rw-r--r-- .* \./usr/lib/systemd/user/locket\.service\n`,
		`\./usr/lib/systemd/system/locket\.service\n`, `\./usr/share/man/man1/locket-search\.1\.gz\n`, `\./usr/share/bash-completion/completions/locket\n`,
		`\./usr/share/zsh/vendor-completions/_locket\n`, `\./usr/share/fish/vendor_completions\.d/locket\.fish\n`, `\./usr/share/doc/locket/copyright\n`} {
		if !regexp.MustCompile(want).MatchString(list) {
			t.Errorf("no %s in\n%s", want, list)
		}
	}
	unpacked := filepath.Join(dir, "unpacked")
	dpkg(t, "-x", deb, unpacked)
	version, err := exec.Command(filepath.Join(unpacked, "usr/bin/locket"), "version").Output()
	if err != nil || !strings.HasPrefix(string(version), "locket v0.1.0 commit 0123456789ab of 2026-11-22T10:00:00Z") {
		t.Errorf("%q, %v", version, err)
	}
	// It has the key that must have signed a newer release.
	asked, err := exec.Command(filepath.Join(unpacked, "usr/bin/locket"), "update", "--check", "--from", dir).CombinedOutput()
	if err == nil || !strings.Contains(string(asked), "SHA256SUMS: no such file") {
		t.Errorf("%q, %v", asked, err)
	}
	page, err := exec.Command("gzip", "-dc", filepath.Join(unpacked, "usr/share/man/man1/locket-search.1.gz")).Output()
	if err != nil || !bytes.Contains(page, []byte(`.TH "LOCKET-SEARCH" "1" "Nov 2026"`)) {
		t.Errorf("%.300s, %v", page, err)
	}
}

func dpkg(t *testing.T, args ...string) string {
	t.Helper()
	out, err := exec.Command("dpkg", args...).CombinedOutput()
	if err != nil {
		t.Fatalf("dpkg %q: %v\n%s", args, err, out)
	}
	return string(out)
}

// copySource copies the files of a checkout.
func copySource(t *testing.T, to string) {
	t.Helper()
	if err := os.Mkdir(to, 0o755); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("sh", "-c", `cd .. && git ls-files -z --cached --others --exclude-standard | tar --null -T - -cf - | tar -xf - -C "$0"`, to)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
}
