"""The identity providers that the settings of a service ask for."""

from svddtune.process.tokens import TokenFileError
from svddtune.service.access.foreign import Foreign
from svddtune.service.access.identity import Identities, IdentityProvider
from svddtune.service.settings import Settings


class IdentitiesError(Exception):
    """An identity provider cannot be set up. The message is one line for the operator."""


def identities_of(settings: Settings) -> Identities:
    """Return the identity providers. Raises IdentitiesError."""
    providers: list[IdentityProvider] = []
    # (Each is imported where it is used: a service without them starts as fast as before.)
    if settings.tokens:
        from svddtune.service.access.tokens import TokenFile

        try:
            providers.append(TokenFile(settings.tokens))
        except TokenFileError as error:
            raise IdentitiesError(str(error)) from error
    if settings.jwt_issuer:
        from svddtune.service.access.web_tokens import Claims, WebTokens

        claims = Claims(
            settings.jwt_name_claim, settings.jwt_project_claim, settings.jwt_role_claim
        )
        providers.append(
            WebTokens(
                issuer=settings.jwt_issuer,
                audience=settings.jwt_audience,
                jwks=settings.jwt_jwks,
                claims=claims,
            )
        )
    if settings.tls_client_ca:
        from svddtune.service.access.certificates import Certificates

        providers.append(Certificates())
    if settings.identity_provider:
        providers.append(_own(settings.identity_provider))
    return Identities(providers)


def _own(name: str) -> IdentityProvider:
    """The provider of an installed package."""
    from importlib.metadata import entry_points

    found = {one.name: one for one in entry_points(group="svddtune.identity_providers")}
    if name not in found:
        known = ", ".join(sorted(found)) or "none"
        raise IdentitiesError(f"no package has the identity provider {name!r}; there are: {known}")
    try:
        return Foreign(name, found[name].load()())
    # (It may do anything.)
    except Exception as error:
        raise IdentitiesError(
            f"the identity provider {name!r} ({found[name].value}) cannot be used: "
            f"{type(error).__name__}: {error}"
        ) from error
