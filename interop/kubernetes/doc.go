// Package kubernetes holds deploy/kubernetes to the API's own types. It is a
// module of its own, so that the product does not depend on them.
package kubernetes
