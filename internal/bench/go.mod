module github.com/gqlresilience/gqlresilience/internal/bench

go 1.26.0

replace github.com/gqlresilience/gqlresilience => ../..

tool github.com/gqlresilience/gqlresilience/cmd/gqlgen-resilience

require (
	github.com/99designs/gqlgen v0.17.98
	github.com/failsafe-go/failsafe-go v0.9.8
	github.com/gqlresilience/gqlresilience v0.0.0-00010101000000-000000000000
	github.com/sony/gobreaker/v2 v2.4.0
	github.com/stretchr/testify v1.12.1
	github.com/vektah/gqlparser/v2 v2.5.64
)

require (
	github.com/agnivade/levenshtein v1.2.2 // indirect
	github.com/bits-and-blooms/bitset v1.24.4 // indirect
	github.com/goccy/go-yaml v1.19.2 // indirect
	github.com/google/uuid v1.6.0 // indirect
	github.com/sosodev/duration v1.4.0 // indirect
	go.yaml.in/yaml/v3 v3.0.5 // indirect
	golang.org/x/mod v0.42.0 // indirect
	golang.org/x/sync v0.24.0 // indirect
	golang.org/x/text v0.43.0 // indirect
	golang.org/x/tools v0.52.0 // indirect
)
