% expect_error(identifier, action): action() fails with this identifier, and with a text.
function expect_error(identifier, action)
  caught = [];
  try
    action();
  catch caught
  end
  if isempty(caught)
    error("%s went through, where %s was expected", func2str(action), identifier);
  end
  if ! strcmp(caught.identifier, identifier) || isempty(caught.message)
    error("%s failed with %s (%s), where %s was expected", func2str(action), caught.identifier, caught.message, identifier);
  end
end
