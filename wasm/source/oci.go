package source

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"net/url"
	"strings"

	ocispec "github.com/opencontainers/image-spec/specs-go/v1"
	"oras.land/oras-go/v2/content"
	"oras.land/oras-go/v2/registry/remote"
	"oras.land/oras-go/v2/registry/remote/auth"

	"github.com/locket-dev/locket/wasm/bundle"
)

// ArtifactType of a plugin in an OCI registry: a manifest with one layer, of
// bundle.MediaType, which is the bundle's file.
const ArtifactType = "application/vnd.locket.plugin.v1"

const maxOCIManifest = 64 << 10

func hashOf(b []byte) []byte {
	sum := sha256.Sum256(b)
	return sum[:]
}

// fetchOCI gets the one layer of an artifact; its digest is checked on the
// way, and its size before.
func fetchOCI(ctx context.Context, ref string, o Options) (bundle.Bundle, error) {
	fail := func(format string, args ...any) (bundle.Bundle, error) {
		return bundle.Bundle{}, fmt.Errorf("oci://"+ref+": "+format, args...)
	}
	repo, err := remote.NewRepository(ref)
	if err != nil {
		return fail("%w", err)
	}
	if repo.Reference.Reference == "" {
		return fail("it names no version: want a :TAG or @sha256:DIGEST")
	}
	repo.PlainHTTP = o.Insecure && isLocal(repo.Reference.Host())
	scheme := "https"
	if repo.PlainHTTP {
		scheme = "http"
	}
	if err := o.allowed(&url.URL{Scheme: scheme, Host: repo.Reference.Host()}); err != nil {
		return fail("%w", err)
	}
	client := o.client()
	defer client.CloseIdleConnections()
	repo.Client = &auth.Client{Client: client}
	repo.MaxMetadataBytes = maxOCIManifest
	desc, rc, err := repo.Manifests().FetchReference(ctx, repo.Reference.Reference)
	if err != nil {
		return fail("%w", err)
	}
	defer rc.Close()
	if desc.Size > maxOCIManifest {
		return fail("its manifest: %w: %d bytes", ErrTooLong, desc.Size)
	}
	text, err := content.ReadAll(rc, desc)
	if err != nil {
		return fail("its manifest: %w", err)
	}
	var m ocispec.Manifest
	if err := json.Unmarshal(text, &m); err != nil {
		return fail("its manifest: %w", err)
	}
	if len(m.Layers) != 1 || m.Layers[0].MediaType != bundle.MediaType {
		return fail("%w: want one layer of type %s", ErrAnswer, bundle.MediaType)
	}
	layer := m.Layers[0]
	if layer.Size < 0 || layer.Size > bundle.MaxSize {
		return fail("%w: %d bytes, at most %d", ErrTooLong, layer.Size, bundle.MaxSize)
	}
	b, err := content.FetchAll(ctx, repo.Blobs(), layer)
	if err != nil {
		return fail("%w", err)
	}
	p, err := bundle.Read(strings.NewReader(string(b)))
	if err != nil {
		return fail("%w", err)
	}
	return p, nil
}

// isLocal says whether a registry is on this machine: only there is plain
// HTTP spoken, and only where it was allowed.
func isLocal(host string) bool {
	name, _, _ := strings.Cut(host, ":")
	return name == "localhost" || strings.HasPrefix(name, "127.") || strings.HasPrefix(host, "[::1]")
}
