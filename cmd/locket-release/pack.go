package main

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/goreleaser/nfpm/v2"
	_ "github.com/goreleaser/nfpm/v2/apk" // formats register themselves
	_ "github.com/goreleaser/nfpm/v2/deb"
	"github.com/goreleaser/nfpm/v2/files"
	_ "github.com/goreleaser/nfpm/v2/rpm"
)

// formats of packages: Debian's, Fedora's and Alpine's.
var formats = []string{"deb", "rpm", "apk"}

// pack is one package of a system.
type pack struct {
	name, summary, text string
	commands            []string
	content             []place
}

// place is a file that a package contains besides its commands, from the folder files.
type place struct {
	at, file string
	formats  string // the formats that contain it; empty: all
	config   bool   // belongs to the administrator: an upgrade keeps it
	mode     os.FileMode
}

var packs = []pack{
	{
		name: "locket", summary: "memory for wearables that belongs to its wearer", commands: []string{"locket", "locket-bridge"},
		text: `A daemon that receives what glasses, pins and pendants hear and see, turns it
into typed memories, keeps them encrypted on this machine, and answers
questions with the network off. To start: locket setup`,
		content: []place{{"/usr/lib/systemd/system/locket.service", "locket.service", "deb rpm", false, 0o644},
			{"/usr/lib/systemd/user/locket-bridge.service", "locket-bridge.service", "deb rpm", false, 0o644},
			{"/usr/lib/sysusers.d/locket.conf", "sysusers.conf", "rpm", false, 0o644}, {"/etc/init.d/locket", "locket.openrc", "apk", true, 0o755}},
	},
	{
		name: "locket-cloud", summary: "relay and worker for Locket, which keep what only its owners can read", commands: []string{"locket-cloud"},
		text: `A relay that stores and forwards sealed deltas of wearers' devices, and a
worker that transcribes and reads for the wearers who grant it access.`,
		content: []place{{"/usr/lib/systemd/system/locket-relay.service", "locket-relay.service", "deb rpm", false, 0o644},
			{"/etc/locket-relay.toml", "locket-relay.toml", "", true, 0o644}},
	},
}

// packages makes the packages of all formats for the Linux targets.
func (r *making) packages(chosen []target) error {
	for _, p := range r.packs {
		for _, t := range chosen {
			if t.os != "linux" || !t.has(p.commands...) {
				continue
			}
			for _, format := range r.formats {
				if err := r.pack(p, t, format); err != nil {
					return fmt.Errorf("%s of %s for %s: %w", format, p.name, t, err)
				}
			}
		}
	}
	return nil
}

func (r *making) pack(p pack, t target, format string) error {
	content, err := r.content(p, t, format)
	if err != nil {
		return err
	}
	arch := t.arch
	if t.arm != "" {
		arch += t.arm // nfpm's name, which it translates for each format
	}
	info := &nfpm.Info{
		Name: p.name, Arch: arch, Platform: "linux", Version: r.number(), Section: "utils", Priority: "optional",
		Maintainer: "Locket maintainers <locket-dev@users.noreply.github.com>", Vendor: "Locket", License: "Apache-2.0",
		Homepage: "https://github.com/locket-dev/locket", Description: p.summary + "\n" + p.text, MTime: r.time,
		Overridables: nfpm.Overridables{
			Recommends: []string{"ca-certificates"}, Contents: content, Umask: 0o022,
			Deb: nfpm.Deb{Compression: "xz"},
			RPM: nfpm.RPM{Compression: "zstd", BuildHost: "localhost", Summary: p.summary, Group: "Applications/System"},
		},
	}
	switch format {
	case "deb":
		info.License = "" // is in the copyright file
		if p.name == "locket" {
			info.Depends = []string{"adduser"} // to make the user of the system service
		}
	case "rpm":
		info.Description = p.text // the summary has its own field
	}
	if info.Scripts, err = r.scripts(p, format); err != nil {
		return err
	}
	if format == "apk" { // Alpine calls another script for an upgrade
		info.APK.Scripts.PostUpgrade = info.Scripts.PostInstall
	}
	if err := nfpm.PrepareForPackager(nfpm.WithDefaults(info), format); err != nil {
		return err
	}
	packager, err := nfpm.Get(format)
	if err != nil {
		return err
	}
	return r.file(packager.ConventionalFileName(info), func(w io.Writer) error { return packager.Package(info, w) })
}

// content returns the files of a package, each copied from a file on this disk.
func (r *making) content(p pack, t target, format string) (list files.Contents, err error) {
	add := func(at, from string, mode os.FileMode) {
		list = append(list, &files.Content{Source: from, Destination: at, FileInfo: &files.ContentFileInfo{Mode: mode, MTime: r.time, Owner: "root", Group: "root"}})
	}
	put := func(at string, b []byte) error {
		from, err := r.scratch(p.name+"."+format+at, b)
		add(at, from, 0o644)
		return err
	}
	for _, c := range p.commands {
		add("/usr/bin/"+c, r.binary(t, c), 0o755)
		pages, err := filepath.Glob(filepath.Join(r.pages(c), "*.1"))
		if err != nil {
			return nil, err
		}
		for _, page := range pages {
			b, err := os.ReadFile(page)
			if err != nil {
				return nil, err
			}
			if err := put("/usr/share/man/man1/"+filepath.Base(page)+".gz", r.zipped(b)); err != nil {
				return nil, err
			}
		}
		for _, shell := range shells {
			at := completionPlace(shell, c, "/usr/share")
			if format == "deb" {
				at = strings.Replace(at, "site-functions", "vendor-completions", 1)
			}
			add(at, r.completion(c, shell), 0o644)
		}
	}
	if p.name == "locket" && format != "apk" { // Alpine has no systemd
		add("/usr/lib/systemd/user/locket.service", r.starter("locket.service"), 0o644)
	}
	for _, c := range p.content {
		if c.formats != "" && !strings.Contains(c.formats, format) {
			continue
		}
		b, err := carried.ReadFile("files/" + c.file)
		if err != nil {
			return nil, err
		}
		if err := put(c.at, b); err != nil {
			return nil, err
		}
		last := list[len(list)-1]
		last.FileInfo.Mode = c.mode
		if c.config {
			last.Type = files.TypeConfigNoReplace
		}
	}
	return list, r.documents(p, format, put)
}

// documents adds what Debian's policy requires in /usr/share/doc, and for other formats the
// licence.
func (r *making) documents(p pack, format string, put func(string, []byte) error) error {
	license, err := os.ReadFile(filepath.Join(r.root, "LICENSE"))
	if err != nil {
		return err
	}
	if format != "deb" {
		return put("/usr/share/licenses/"+p.name+"/LICENSE", license)
	}
	copyright, err := carried.ReadFile("files/copyright")
	if err != nil {
		return err
	}
	overrides, err := carried.ReadFile("files/" + p.name + ".lintian")
	if err != nil {
		return err
	}
	changes := fmt.Sprintf("%s (%s) stable; urgency=medium\n\n  * Release %s: https://github.com/locket-dev/locket/releases/tag/%s\n\n -- Locket maintainers <locket-dev@users.noreply.github.com>  %s\n",
		p.name, r.number(), r.number(), r.version, r.time.Format(time.RFC1123Z))
	for at, b := range map[string][]byte{"/usr/share/doc/" + p.name + "/copyright": copyright, "/usr/share/lintian/overrides/" + p.name: overrides,
		"/usr/share/doc/" + p.name + "/changelog.gz": r.zipped([]byte(changes))} {
		if err := put(at, b); err != nil {
			return err
		}
	}
	return nil
}

// scripts returns the scripts that the package manager runs.
func (r *making) scripts(p pack, format string) (s nfpm.Scripts, err error) {
	for name, to := range map[string]*string{"postinstall": &s.PostInstall, "preremove": &s.PreRemove, "postremove": &s.PostRemove} {
		b, err := carried.ReadFile("files/" + p.name + "." + format + "." + name)
		if os.IsNotExist(err) {
			continue
		}
		if err == nil {
			*to, err = r.scratch(p.name+"."+format+"."+name, b)
		}
		if err != nil {
			return s, err
		}
	}
	return s, nil
}

// scratch writes a file for a package. The file has the time of the commit, which Alpine's packages
// take from their scripts.
func (r *making) scratch(name string, b []byte) (path string, err error) {
	path = filepath.Join(r.work, "pack", filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return "", err
	}
	if err := os.WriteFile(path, b, 0o644); err != nil {
		return "", err
	}
	return path, os.Chtimes(path, r.time, r.time)
}

// zipped compresses like gzip -9n: without a name or a time.
func (r *making) zipped(b []byte) []byte {
	var out bytes.Buffer
	z, _ := gzip.NewWriterLevel(&out, gzip.BestCompression) // the level is valid
	_, _ = z.Write(b)                                       // writing to a buffer never fails
	_ = z.Close()
	return out.Bytes()
}
