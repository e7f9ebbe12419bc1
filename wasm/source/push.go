package source

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"

	"github.com/opencontainers/go-digest"
	ocispec "github.com/opencontainers/image-spec/specs-go/v1"
	"oras.land/oras-go/v2/registry/remote"

	"github.com/locket-dev/locket/wasm/bundle"
)

// Push puts a signed bundle into an OCI registry, oci://REGISTRY/REPOSITORY:TAG, and returns the
// digest that identifies exactly this content. The tag is set last: if anything fails before, it is
// unchanged.
func Push(ctx context.Context, ref string, b bundle.Bundle, o Options) (string, error) {
	ctx, cancel := o.context(ctx)
	defer cancel()
	fail := func(err error) (string, error) { return "", fmt.Errorf("push to %s: %w", ref, asked(err)) }
	m, err := b.Open()
	if err != nil {
		return fail(err)
	}
	if m.Publisher == "" {
		return fail(fmt.Errorf("%w: %s is not signed", bundle.ErrBundle, m.ID))
	}
	file, err := b.Bytes()
	if err != nil {
		return fail(err)
	}
	repo, closeIdle, err := o.repository(ref)
	if err != nil {
		return "", err
	}
	defer closeIdle()
	if repo.Reference.ValidateReferenceAsTag() != nil {
		return fail(fmt.Errorf("%w: it names no tag: want oci://REGISTRY/REPOSITORY:TAG", ErrAddress))
	}
	config, err := pushBlob(ctx, repo, ocispec.MediaTypeEmptyJSON, []byte("{}"))
	if err != nil {
		return fail(err)
	}
	layer, err := pushBlob(ctx, repo, bundle.MediaType, file)
	if err != nil {
		return fail(err)
	}
	list := ocispec.Manifest{MediaType: ocispec.MediaTypeImageManifest, ArtifactType: ArtifactType, Config: config, Layers: []ocispec.Descriptor{layer},
		Annotations: map[string]string{ocispec.AnnotationTitle: m.Title, ocispec.AnnotationVersion: m.Version, ocispec.AnnotationLicenses: m.Licence}}
	list.SchemaVersion = 2
	text, err := json.Marshal(list)
	if err != nil {
		return fail(err)
	}
	d := describe(list.MediaType, text)
	if err := repo.Manifests().PushReference(ctx, d, bytes.NewReader(text), repo.Reference.Reference); err != nil {
		return fail(err)
	}
	return d.Digest.String(), nil
}

func describe(mediaType string, b []byte) ocispec.Descriptor {
	return ocispec.Descriptor{MediaType: mediaType, Digest: digest.FromBytes(b), Size: int64(len(b))}
}

// pushBlob uploads a blob unless the repository has it.
func pushBlob(ctx context.Context, repo *remote.Repository, mediaType string, b []byte) (ocispec.Descriptor, error) {
	d := describe(mediaType, b)
	have, err := repo.Blobs().Exists(ctx, d)
	if err == nil && !have {
		err = repo.Blobs().Push(ctx, d, bytes.NewReader(b))
	}
	return d, err
}
