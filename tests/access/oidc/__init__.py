"""Sign-on by an OpenID provider."""
