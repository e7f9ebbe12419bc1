package main

import (
	"bytes"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/types"
	"golang.org/x/crypto/x509roots/fallback/bundle"
)

// nonroot is the user id in images, the same as in distroless images.
const nonroot = 65532

// container is an image of one command. Of a system, it contains only certificates.
type container struct {
	name, title string
	config      v1.Config
}

var containers = []container{
	{"locket", "Locket, a memory that belongs to its wearer", v1.Config{
		Entrypoint: []string{"/usr/bin/locket"}, Cmd: []string{"run"},
		Env:          []string{"LOCKET_HOME=/data", "LOCKET_BROKER_LISTEN=0.0.0.0:1883"},
		ExposedPorts: map[string]struct{}{"1883/tcp": {}},
		Healthcheck:  &v1.HealthConfig{Test: []string{"CMD", "/usr/bin/locket", "status"}, Interval: time.Minute, Timeout: 10 * time.Second, StartPeriod: 10 * time.Minute, Retries: 3},
	}},
	{"locket-cloud", "The relay and the worker of Locket", v1.Config{
		Entrypoint: []string{"/usr/bin/locket-cloud"}, Cmd: []string{"serve"},
		Env:          []string{"LOCKET_CLOUD_DATA=/data", "LOCKET_CLOUD_LISTEN=0.0.0.0:7440"},
		ExposedPorts: map[string]struct{}{"7440/tcp": {}},
		Healthcheck:  &v1.HealthConfig{Test: []string{"CMD", "/usr/bin/locket-cloud", "ready"}, Interval: time.Minute, Timeout: 10 * time.Second, StartPeriod: time.Minute, Retries: 3},
	}},
}

// images writes an OCI image layout, as a tar, for each container, with all Linux targets.
func (r *making) images(chosen []target) error {
	for _, c := range containers {
		index := mutate.IndexMediaType(empty.Index, types.OCIImageIndex)
		some := false
		for _, t := range chosen {
			if t.os != "linux" || !t.has(c.name) {
				continue
			}
			image, err := r.image(c, t)
			if err != nil {
				return fmt.Errorf("%s for %s: %w", c.name, t, err)
			}
			index = mutate.AppendManifests(index, mutate.IndexAddendum{Add: image, Descriptor: v1.Descriptor{Platform: t.platform()}})
			some = true
		}
		if !some {
			continue
		}
		dir := filepath.Join(r.work, "image", c.name)
		at, err := layout.Write(dir, empty.Index)
		if err != nil {
			return err
		}
		if err := at.AppendIndex(index, layout.WithAnnotations(map[string]string{"org.opencontainers.image.ref.name": r.number()})); err != nil {
			return err
		}
		var list []entry
		err = filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			name, err := filepath.Rel(dir, path)
			list = append(list, entry{filepath.ToSlash(name), path, 0o644})
			return err
		})
		if err != nil {
			return err
		}
		if err := r.file(c.name+"_"+r.number()+"_oci.tar", func(w io.Writer) error { return r.tar(w, list) }); err != nil {
			return err
		}
	}
	return nil
}

func (t target) platform() *v1.Platform {
	p := &v1.Platform{OS: t.os, Architecture: t.arch}
	if t.arm != "" {
		p.Variant = "v" + t.arm
	}
	return p
}

func (r *making) image(c container, t target) (v1.Image, error) {
	roots, err := r.scratch("ca-certificates.crt", certificates())
	if err != nil {
		return nil, err
	}
	users, err := r.scratch("passwd", fmt.Appendf(nil, "root:x:0:0:root:/root:/sbin/nologin\nnonroot:x:%d:%d:nonroot:/data:/sbin/nologin\n", nonroot, nonroot))
	if err != nil {
		return nil, err
	}
	list := []entry{{"usr/bin/" + c.name, r.binary(t, c.name), 0o755}, {"etc/ssl/certs/ca-certificates.crt", roots, 0o644}, {"etc/passwd", users, 0o644},
		{"data", "", os.ModeDir | 0o700}, {"tmp", "", os.ModeDir | 0o700}}
	if c.name == "locket-cloud" {
		list = append(list, entry{"usr/share/doc/LICENSE", filepath.Join(r.root, "LICENSE"), 0o644})
	}
	var files bytes.Buffer
	if err := r.tar(&files, list); err != nil {
		return nil, err
	}
	layer, err := tarball.LayerFromOpener(func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(files.Bytes())), nil }, tarball.WithMediaType(types.OCILayer))
	if err != nil {
		return nil, err
	}
	image, err := mutate.AppendLayers(mutate.ConfigMediaType(mutate.MediaType(empty.Image, types.OCIManifestSchema1), types.OCIConfigJSON), layer)
	if err != nil {
		return nil, err
	}
	f, err := image.ConfigFile()
	if err != nil {
		return nil, err
	}
	f = f.DeepCopy()
	f.OS, f.Architecture, f.Variant, f.Created, f.Config = t.os, t.arch, t.platform().Variant, v1.Time{Time: r.time}, c.config
	f.Config.User, f.Config.WorkingDir, f.Config.Volumes = fmt.Sprintf("%d:%d", nonroot, nonroot), "/data", map[string]struct{}{"/data": {}}
	f.Config.Labels = map[string]string{"org.opencontainers.image.title": c.title, "org.opencontainers.image.version": r.number(), "org.opencontainers.image.revision": r.commit,
		"org.opencontainers.image.licenses": "Apache-2.0", "org.opencontainers.image.source": "https://github.com/locket-dev/locket"}
	for i := range f.History {
		f.History[i].Created = v1.Time{Time: r.time}
	}
	if image, err = mutate.ConfigFile(image, f); err != nil {
		return nil, err
	}
	if size, err := image.Size(); err != nil || size == 0 {
		return nil, errors.Join(err, errors.New("the image is empty"))
	}
	return image, nil
}

// certificates returns, as PEM, the roots that Mozilla trusts without conditions. In a file, one
// with conditions could not be told from the others.
func certificates() []byte {
	var out bytes.Buffer
	for root := range bundle.Roots() {
		if root.Constraint == nil {
			_ = pem.Encode(&out, &pem.Block{Type: "CERTIFICATE", Bytes: root.Certificate}) // writing to a buffer never fails
		}
	}
	return out.Bytes()
}
