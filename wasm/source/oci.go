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

	"github.com/locket-dev/locket/internal/clientaddr"
	"github.com/locket-dev/locket/wasm/bundle"
)

// ArtifactType is the artifact type of a plugin in an OCI registry: a manifest with one layer, of
// bundle.MediaType, which is the bundle's file.
const ArtifactType = "application/vnd.locket.plugin.v1"

const maxOCIManifest = 64 << 10

func hashOf(b []byte) []byte {
	sum := sha256.Sum256(b)
	return sum[:]
}

// fetchOCI fetches the single layer of an artifact; its size is checked before, and its digest on
// the way.
func fetchOCI(ctx context.Context, ref string, o Options) (bundle.Bundle, error) {
	fail := func(format string, args ...any) (bundle.Bundle, error) {
		return bundle.Bundle{}, fmt.Errorf("oci://"+ref+": "+format, args...)
	}
	repo, closeIdle, err := o.repository("oci://" + ref)
	if err != nil {
		return bundle.Bundle{}, err
	}
	defer closeIdle()
	if repo.Reference.Reference == "" {
		return fail("it names no version: want a :TAG or @sha256:DIGEST")
	}
	desc, rc, err := repo.Manifests().FetchReference(ctx, repo.Reference.Reference)
	if err != nil {
		return fail("%w", asked(err))
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

// repository opens an oci:// reference. The login of its host is only sent there, and to the token
// server that the host names.
func (o *Options) repository(ref string) (_ *remote.Repository, closeIdle func(), err error) {
	rest, ok := strings.CutPrefix(ref, "oci://")
	if !ok {
		return nil, nil, fmt.Errorf("%s: %w: want oci://REGISTRY/REPOSITORY:TAG", ref, ErrAddress)
	}
	logins, err := readLogins(o.Logins)
	if err != nil {
		return nil, nil, err
	}
	repo, err := remote.NewRepository(rest)
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", ref, err)
	}
	host := repo.Reference.Host()
	repo.PlainHTTP = o.Insecure && isLocal(host)
	scheme := "https"
	if repo.PlainHTTP {
		scheme = "http"
	}
	if err := o.allowed(&url.URL{Scheme: scheme, Host: host}); err != nil {
		return nil, nil, fmt.Errorf("%s: %w", ref, err)
	}
	client := o.client()
	l := logins[strings.ToLower(host)]
	repo.Client = &auth.Client{Client: client, Cache: auth.NewCache(), Credential: func(_ context.Context, at string) (auth.Credential, error) {
		switch {
		case !strings.EqualFold(at, host):
			return auth.EmptyCredential, nil
		case l.user == "":
			return auth.Credential{AccessToken: l.password}, nil
		}
		return auth.Credential{Username: l.user, Password: l.password}, nil
	}}
	repo.MaxMetadataBytes = maxOCIManifest
	return repo, client.CloseIdleConnections, nil
}

// isLocal reports whether a registry is on this machine. Plain HTTP is used only there, and
// only if it was allowed.
func isLocal(host string) bool {
	return clientaddr.Loopback((&url.URL{Host: host}).Hostname())
}
